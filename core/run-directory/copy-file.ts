import { constants, createReadStream, createWriteStream } from 'node:fs';
import { copyFile, rm, stat } from 'node:fs/promises';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/** Bytes that are copied in a moment, so at once. */
const atOnce = 8 << 20;

export interface CopyOptions {
  /** Ends it; then it throws the signal's reason. */
  signal?: AbortSignal | undefined;
  /** Hears how many bytes more are there. */
  copied?: (bytes: number) => void;
}

/** Copies a file: at once where it is small or its blocks can be shared, else piece by piece. Where it fails or is given up, nothing of the copy stays. */
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
