import { createWriteStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { crc32 } from 'node:zlib';
import yauzl, { type Entry, type ZipFile } from 'yauzl';
import { ensureFolder, makeFolder } from '../base/folders.ts';
import { asFailure, Failure, messageOf } from '../contract/failure.ts';
import { diskSpaceLow, freeBytes } from '../run-directory/measure.ts';
import { runFiles } from '../run-directory/names.ts';
import {
  bundleVersion,
  invalid,
  isAllowed,
  type Manifest,
  manifestName,
  manifestSchema,
  maxBytes,
  runPrefix,
} from './format.ts';

export interface UnpackJob {
  /** The bundle. */
  file: string;
  /** The new run folder. */
  target: string;
}

/** A run has a few files per iteration. */
const maxFiles = 200_000;
const maxManifestBytes = 1 << 20;
/** Maximum share of the free disk space to use. */
const maxDiskShare = 0.9;

/**
 * Unpacks a bundle into a new folder. Bundles are untrusted: names, types and sizes are checked first, sizes and checksums again while writing.
 * Throws `bundle_invalid`, `bundle_version_unsupported` or `disk_space_low`; the caller removes partial files.
 */
export async function unpack(
  { file, target }: UnpackJob,
  progress: (done: number, total: number) => void,
): Promise<Manifest> {
  const zip = await open(file);
  try {
    const entries = await readDirectory(zip);
    const head = entries.find(({ fileName }) => fileName === manifestName);
    if (!head) throw invalid(`it has no ${manifestName}`);
    if (head.uncompressedSize > maxManifestBytes) throw invalid(`its ${manifestName} is too large`);
    const manifest = readManifest(await contentOf(zip, head));
    const files = entries.filter((entry) => entry !== head);
    if (!files.some(({ fileName }) => fileName === runPrefix + runFiles.config))
      throw invalid(`it has no ${runFiles.config}`);
    const total = files.reduce((sum, { uncompressedSize }) => sum + uncompressedSize, 0);
    ensureFolder(target);
    const free = await freeBytes(target);
    if (total > maxDiskShare * free) throw diskSpaceLow('run', total / maxDiskShare, free);
    let done = 0;
    for (const entry of files) {
      const path = join(target, entry.fileName.slice(runPrefix.length));
      makeFolder(dirname(path));
      await extract(zip, entry, path, (count) => {
        done += count;
        progress(done, total);
      });
    }
    return manifest;
  } catch (error) {
    throw asBundleFailure(error);
  } finally {
    zip.close();
  }
}

async function open(file: string): Promise<ZipFile> {
  try {
    return await yauzl.openPromise(file, { lazyEntries: true, autoClose: false, strictFileNames: true });
  } catch (error) {
    throw invalid(`it is not a readable zip file (${messageOf(error)})`);
  }
}

/** Returns the bundle's files, all with allowed paths. */
async function readDirectory(zip: ZipFile): Promise<Entry[]> {
  if (zip.entryCount > maxFiles) throw invalid(`it has too many files (${zip.entryCount})`);
  const entries: Entry[] = [];
  const names = new Set<string>();
  let packed = 0;
  for await (const entry of zip.eachEntry()) {
    // File managers add entries for folders when they zip an unpacked bundle again.
    if (entry.fileName.endsWith('/') && entry.uncompressedSize === 0) continue;
    checkEntry(entry);
    // Names that differ only in case collide on some systems.
    const name = entry.fileName.toLowerCase();
    if (names.has(name)) throw invalid(`it contains ${entry.fileName} twice, ignoring case`);
    names.add(name);
    packed += entry.compressedSize;
    // Sizes above the file size mean that entries overlap, as in a zip bomb.
    if (packed > zip.fileSize) throw invalid('its files overlap');
    entries.push(entry);
  }
  return entries;
}

const fileKind = 0o170000;
const plainFile = 0o100000;

function checkEntry({ fileName, externalFileAttributes, ...entry }: Entry): void {
  const shown = JSON.stringify(fileName.slice(0, 100));
  if (fileName !== manifestName && !(fileName.startsWith(runPrefix) && isAllowed(fileName.slice(runPrefix.length))))
    throw invalid(`it contains ${shown}, which is not part of a run`);
  const kind = (externalFileAttributes >>> 16) & fileKind;
  if (kind !== 0 && kind !== plainFile) throw invalid(`${shown} is a link or another special file`);
  if ((entry.generalPurposeBitFlag & 1) !== 0) throw invalid(`${shown} is encrypted`);
  if (entry.uncompressedSize > maxBytes(fileName.slice(runPrefix.length))) throw invalid(`${shown} is too large`);
}

function readManifest(content: Buffer): Manifest {
  let value: unknown;
  try {
    value = JSON.parse(content.toString('utf8'));
  } catch {
    throw invalid(`its ${manifestName} is not valid JSON`);
  }
  const read = manifestSchema.safeParse(value);
  if (!read.success) throw invalid(`its ${manifestName} has an unknown format`);
  if (read.data.version > bundleVersion)
    throw new Failure(
      'bundle_version_unsupported',
      'This bundle was made by a newer StarPO Studio.',
      'Update StarPO Studio, then import it again.',
    );
  return read.data;
}

async function contentOf(zip: ZipFile, entry: Entry): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of await zip.openReadStreamPromise(entry)) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

/** Extracts and verifies a file. yauzl throws if the stream's length differs from the entry's. */
async function extract(zip: ZipFile, entry: Entry, path: string, onBytes: (count: number) => void): Promise<void> {
  let sum = 0;
  const counted = new Transform({
    transform(chunk: Buffer, _, next) {
      sum = crc32(chunk, sum);
      onBytes(chunk.length);
      next(null, chunk);
    },
  });
  const source = await zip.openReadStreamPromise(entry);
  await pipeline(source, counted, createWriteStream(path, { flags: 'wx' }));
  if (sum !== entry.crc32 || (await stat(path)).size !== entry.uncompressedSize)
    throw invalid(`${entry.fileName} is damaged`);
}

/** Converts errors other than failures and system errors to `bundle_invalid`. */
function asBundleFailure(error: unknown): Failure {
  const failure = asFailure(error);
  if (failure.code !== 'internal') return failure;
  if ((error as NodeJS.ErrnoException).syscall) throw error;
  return invalid(messageOf(error));
}
