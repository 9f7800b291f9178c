import { constants, createReadStream, createWriteStream } from 'node:fs';
import { copyFile, link, rm, stat } from 'node:fs/promises';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { named } from '../contract/file-errors.ts';

/** Maximum size of files that are copied in one step. */
const singleStepSize = 8 << 20;

/** Links a file, or copies it to another disk. */
export async function linkOrCopy(from: string, to: string): Promise<void> {
  await link(from, to).catch(() => copyFile(from, to, constants.COPYFILE_FICLONE));
}

interface CopyOptions {
  /** Aborts the copy, which then throws the signal's reason. */
  signal?: AbortSignal | undefined;
  /** Called with the number of bytes copied since the last call. */
  onCopied?: (bytes: number) => void;
}

/** Copies a file: in one step if it is small or the file system can clone it, otherwise in chunks. Removes the copy on failure or abort. */
export async function copyOneFile(
  from: string,
  to: string,
  { signal, onCopied = () => {} }: CopyOptions = {},
): Promise<void> {
  signal?.throwIfAborted();
  const stats = await stat(from);
  if (stats.isFile() && stats.size <= singleStepSize) {
    await copyFile(from, to, constants.COPYFILE_FICLONE);
    return onCopied(stats.size);
  }
  const cloned = await copyFile(from, to, constants.COPYFILE_FICLONE_FORCE).then(
    () => true,
    () => false,
  );
  if (cloned) return onCopied(stats.size);
  const counted = new Transform({
    transform(chunk: Buffer, _, next) {
      onCopied(chunk.length);
      next(null, chunk);
    },
  });
  try {
    const [source, target] = [
      createReadStream(from, { highWaterMark: 1 << 20 }),
      createWriteStream(to, { mode: stats.mode & 0o777 }),
    ];
    await pipeline(source, counted, target, { signal });
  } catch (error) {
    await rm(to, { force: true });
    throw signal?.aborted ? signal.reason : named(error, to);
  }
}
