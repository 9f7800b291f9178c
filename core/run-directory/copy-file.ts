import { constants, createReadStream, createWriteStream } from 'node:fs';
import { copyFile, rm, stat } from 'node:fs/promises';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/** Files up to this size are copied in one step. */
const atOnce = 8 << 20;

export interface CopyOptions {
  /** Aborts the copy, which then throws the signal's reason. */
  signal?: AbortSignal | undefined;
  /** Called with the number of bytes copied since the last call. */
  copied?: (bytes: number) => void;
}

/** Copies a file: in one step if it is small or the file system can clone it, else in chunks. Removes the copy on failure or abort. */
export async function copyOneFile(
  from: string,
  to: string,
  { signal, copied = () => {} }: CopyOptions = {},
): Promise<void> {
  signal?.throwIfAborted();
  const found = await stat(from);
  if (found.isFile() && found.size <= atOnce) {
    await copyFile(from, to, constants.COPYFILE_FICLONE);
    return copied(found.size);
  }
  const shared = await copyFile(from, to, constants.COPYFILE_FICLONE_FORCE).then(
    () => true,
    () => false,
  );
  if (shared) return copied(found.size);
  const counted = new Transform({
    transform(chunk: Buffer, _, next) {
      copied(chunk.length);
      next(null, chunk);
    },
  });
  try {
    const [source, target] = [
      createReadStream(from, { highWaterMark: 1 << 20 }),
      createWriteStream(to, { mode: found.mode & 0o777 }),
    ];
    await pipeline(source, counted, target, { signal });
  } catch (error) {
    await rm(to, { force: true });
    throw signal?.aborted ? signal.reason : error;
  }
}
