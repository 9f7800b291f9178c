import { closeSync, fstatSync, openSync, readFileSync, readSync } from 'node:fs';
import yauzl, { type ZipFile } from 'yauzl';
import { manifestName } from '../bundles/format.ts';
import { Failure, messageOf } from '../contract/failure.ts';
import { fileReason } from '../contract/file-errors.ts';
import { isImportable } from '../contract/imports.ts';
import { unreadable } from './recognize.ts';
import { type InputFile, malformed, tooLarge } from './table.ts';

/** A file on this machine, with its path on the user's. */
export interface Source {
  name: string;
  path: string;
}

/** Limit of all files together, unpacked. Their content is read into memory. */
const maxBytes = 512 << 20;

interface ReadFiles {
  files: InputFile[];
  bundles: Source[];
  /** Files that can't be read. */
  failed: { name: string; failure: Failure }[];
}

/** Reads files, and the files in zips that aren't bundles. */
export async function readFiles(sources: readonly Source[]): Promise<ReadFiles> {
  const read: ReadFiles = { files: [], bundles: [], failed: [] };
  let left = maxBytes;
  for (const source of sources)
    try {
      const inner = isZip(source)
        ? await readZip(source, left)
        : [{ name: source.name, bytes: readWhole(source, left) }];
      if (inner === 'bundle') read.bundles.push(source);
      else read.files.push(...inner);
      left = maxBytes - read.files.reduce((sum, { bytes }) => sum + bytes.length, 0);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      read.failed.push({ name: source.name, failure: error });
    }
  return read;
}

/** Returns whether a file is a zip. In an upload its name is the key of a bundle, while files in other zips have keys of their own. */
export const isZip = (source: Source) =>
  ['PK\x03\x04', 'PK\x05\x06'].includes(readWhole(source, Number.POSITIVE_INFINITY, 4).toString('latin1'));

const sizeProblem = `more than ${maxBytes >> 20} MiB of metrics, with the files before it`;

function readWhole({ name, path }: Source, limit: number, first?: number): Buffer {
  try {
    const file = openSync(path, 'r');
    try {
      const stat = fstatSync(file);
      if (!stat.isFile()) throw unreadable(name, stat.isDirectory() ? 'it is a folder' : 'it is not a regular file');
      if (stat.size > limit) throw tooLarge(name, sizeProblem);
      return first === undefined ? readFileSync(file) : readStart(file, first);
    } finally {
      closeSync(file);
    }
  } catch (error) {
    throw error instanceof Failure ? error : unreadable(name, fileReason(error));
  }
}

function readStart(file: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  return bytes.subarray(0, readSync(file, bytes, 0, length, 0));
}

/** Returns the files in a zip that may be part of a run. */
async function readZip({ name, path }: Source, limit: number): Promise<InputFile[] | 'bundle'> {
  let zip: ZipFile;
  try {
    zip = await yauzl.openPromise(path, { lazyEntries: true, autoClose: false, strictFileNames: true });
  } catch (error) {
    throw malformed(name, `it is not a readable zip file (${messageOf(error)}).`);
  }
  try {
    const files: InputFile[] = [];
    let size = 0;
    for await (const entry of zip.eachEntry()) {
      if (entry.fileName === manifestName) return 'bundle';
      if (entry.fileName.endsWith('/') || !isImportable(entry.fileName)) continue;
      size += entry.uncompressedSize;
      if (size > limit) throw tooLarge(name, sizeProblem);
      const chunks: Buffer[] = [];
      for await (const chunk of await zip.openReadStreamPromise(entry)) chunks.push(chunk as Buffer);
      files.push({ name: `${name}/${entry.fileName}`, bytes: Buffer.concat(chunks) });
    }
    if (files.length === 0)
      throw unreadable(name, 'it contains neither a run bundle nor CSV, TSV, JSONL, TensorBoard, W&B or MLflow files');
    return files;
  } catch (error) {
    throw error instanceof Failure ? error : malformed(name, `${messageOf(error)}.`);
  } finally {
    zip.close();
  }
}
