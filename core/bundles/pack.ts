import { createReadStream, createWriteStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import yazl from 'yazl';
import type { BundleChoice } from '../contract/contract.ts';
import { parseEpisodeId, runFiles, trainSplit } from '../run-directory/names.ts';
import { isAllowed, isPacked, type Manifest, manifestName, runPrefix } from './format.ts';

export interface PackJob {
  folder: string;
  /** Output path. */
  target: string;
  manifest: Manifest;
}

interface Part {
  path: string;
  bytes: number;
}

/** Writes a bundle. Reads growing files up to their initial size. `progress` is in bytes. */
export async function pack(
  { folder, target, manifest }: PackJob,
  progress: (done: number, total: number) => void,
): Promise<void> {
  const parts = await listParts(folder, manifest.contains);
  const total = parts.reduce((sum, { bytes }) => sum + bytes, 0);
  let done = 0;
  const zip = new yazl.ZipFile();
  const failed = new Promise<never>((_, reject) => zip.on('error', reject));
  const head = Buffer.from(`${JSON.stringify(manifest, null, 2)}\n`);
  zip.addBuffer(head, manifestName, { mtime: new Date(manifest.time) });
  for (const { path, bytes } of parts) {
    const options = { size: bytes, compress: !isPacked(path), mtime: new Date(manifest.time) };
    zip.addReadStreamLazy(`${runPrefix}${path}`, options, (callback) => {
      if (bytes === 0) return callback(null, Readable.from([]));
      const counted = new Transform({
        transform(chunk: Buffer, _, next) {
          done += chunk.length;
          progress(done, total);
          next(null, chunk);
        },
      });
      const file = createReadStream(join(folder, path), { end: bytes - 1 });
      file.on('error', (error) => zip.emit('error', error));
      callback(null, file.pipe(counted));
    });
  }
  zip.end();
  await Promise.race([pipeline(zip.outputStream, createWriteStream(target, { flags: 'wx' })), failed]);
}

/** Returns the files to pack, in a fixed order. */
async function listParts(folder: string, choice: BundleChoice): Promise<Part[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => entry.isFile())
    .map((entry) =>
      join(entry.parentPath, entry.name)
        .slice(folder.length + 1)
        .replaceAll('\\', '/'),
    )
    .filter((path) => isAllowed(path))
    .sort();
  const newest = paths.flatMap((path) => checkpointOf(path) ?? []).at(-1);
  const chosen = paths.filter((path) => {
    const checkpoint = checkpointOf(path);
    if (checkpoint) return choice.checkpoints === 'all' || (choice.checkpoints === 'newest' && checkpoint === newest);
    if (!path.startsWith(`${runFiles.rollouts}/`)) return true;
    return choice.episodes === 'all' || (choice.episodes === 'evaluations' && !isTraining(path));
  });
  const sized = await Promise.all(
    chosen.map((path) =>
      stat(join(folder, path)).then(
        ({ size }) => [{ path, bytes: size }],
        // The trainer may have deleted it.
        () => [],
      ),
    ),
  );
  return sized.flat();
}

const checkpointOf = (path: string) => /^checkpoints\/(\d{6,7})\//.exec(path)?.[1];

/** Returns whether a path is a training rollout, such as `rollouts/000012-train.jsonl.zst`. */
const isTraining = (path: string) => {
  const stem = path.slice(path.lastIndexOf('/') + 1).split('.')[0]!;
  return parseEpisodeId(`${stem}-0000`)?.split === trainSplit;
};
