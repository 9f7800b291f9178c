import { createHash, type Hash } from 'node:crypto';
import { createReadStream, existsSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { ensureFolder } from '../base/folders.ts';
import { Failure } from '../contract/failure.ts';
import { fileBytes } from '../run-directory/measure.ts';
import { type Hub, HubBusy, type HubFile, type HubRevision, request } from './hub.ts';

export interface DownloadPlan {
  hub: Hub;
  revision: HubRevision;
  /** Folder for incomplete downloads. */
  partial: string;
  /** Final folder. */
  folder: string;
  /** Initial delay between attempts in ms; it doubles. */
  retryDelay: number;
}

export interface DownloadControl {
  signal: AbortSignal;
  /** Downloaded bytes. */
  progress: (done: number) => void;
}

/** Consecutive attempts without data before giving up. */
const maxAttempts = 6;
/** Maximum delay between attempts in ms. */
const maxDelay = 60_000;
/** Idle timeout of a connection in ms. */
const idleTimeout = 30_000;

/** Suffix of incomplete files. */
const incomplete = '.incomplete';

/**
 * Downloads all files of a revision, resuming partial files, verifies digests and renames the folder when all are complete, so that a model
 * folder is never incomplete. Throws the signal's reason, `download_corrupt`, the errors of `request`, or disk errors.
 */
export async function download(plan: DownloadPlan, { signal, progress }: DownloadControl): Promise<void> {
  ensureFolder(plan.partial);
  let before = 0;
  for (const file of plan.revision.files) {
    const at = join(plan.partial, file.name);
    if (!existsSync(at)) await fetchFile(plan, file, { signal, progress: (done) => progress(before + done) });
    before += file.size;
    progress(before);
  }
  await rename(plan.partial, plan.folder);
}

/** Retries interruptions and busy hubs while data arrives; retries a wrong digest once, from the start. */
async function fetchFile(plan: DownloadPlan, file: HubFile, { signal, progress }: DownloadControl): Promise<void> {
  const path = join(plan.partial, `${file.name}${incomplete}`);
  let fruitless = 0;
  let mismatched = false;
  for (;;) {
    const start = await fileBytes(path);
    try {
      const hex = await appendRest(plan, file, path, { signal, progress });
      if (hex === file.digest.hex) break;
      throw new DigestMismatch(plan.hub.host, file.name);
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof DigestMismatch && !mismatched) {
        mismatched = true;
        await rm(path, { force: true });
        continue;
      }
      if (!isTemporary(error)) throw error;
      fruitless = (await fileBytes(path)) > start ? 0 : fruitless + 1;
      if (fruitless >= maxAttempts) throw error;
      const retryAfter = error instanceof HubBusy ? error.retryAfter : null;
      const delay = retryAfter ?? plan.retryDelay * 2 ** fruitless;
      await pause(Math.min(delay, maxDelay), undefined, { signal }).catch(() => signal.throwIfAborted());
    }
  }
  await rename(path, join(plan.partial, file.name));
}

/** Returns whether a retry may help. */
const isTemporary = (error: unknown) =>
  error instanceof Interrupted || (error instanceof Failure && ['hub_busy', 'hub_unreachable'].includes(error.code));

/** The connection ended early. */
class Interrupted extends Failure {
  constructor(host: string) {
    super(
      'hub_unreachable',
      `The connection to ${host} was interrupted repeatedly.`,
      'Check the connection, then resume. Downloaded files are kept.',
    );
  }
}

/** Downloads the missing part of a file and returns the digest of the whole file. */
async function appendRest(
  { hub, revision }: DownloadPlan,
  file: HubFile,
  path: string,
  { signal, progress }: DownloadControl,
): Promise<string> {
  const { hash, size } = await hashOf(path, file);
  let done = size;
  if (done < file.size || file.size === 0) {
    const address = `/${revision.repository}/resolve/${revision.revision}/${file.name}`;
    const headers: Record<string, string> = done > 0 ? { range: `bytes=${done}-` } : {};
    const response = await request(hub, address, headers, signal);
    if (done > 0 && !continues(response, done)) {
      // The response has the whole file, so download it from the start.
      await response.body?.cancel();
      await rm(path, { force: true });
      throw new Interrupted(hub.host);
    }
    const output = await open(path, 'a');
    try {
      for await (const chunk of chunksOf(response, hub.host, signal)) {
        if (done + chunk.length > file.size) throw new DigestMismatch(hub.host, file.name);
        await output.write(chunk);
        hash.update(chunk);
        done += chunk.length;
        progress(done);
      }
      await output.sync();
    } finally {
      await output.close();
    }
  }
  if (done < file.size) throw new Interrupted(hub.host);
  return hash.digest('hex');
}

/** Returns whether a response continues at a byte offset. */
function continues(response: Response, at: number): boolean {
  const range = /^bytes (\d+)-/.exec(response.headers.get('content-range') ?? '');
  return response.status === 206 && Number(range?.[1]) === at;
}

/** Yields the body until it ends or times out. Throws {@link Interrupted}. */
async function* chunksOf(response: Response, host: string, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  const reader = response.body!.getReader();
  const stop = () => void reader.cancel().catch(() => {});
  const watchdog = setTimeout(stop, idleTimeout);
  signal.addEventListener('abort', stop);
  try {
    for (;;) {
      const { done, value } = await reader.read();
      signal.throwIfAborted();
      if (done) return;
      watchdog.refresh();
      yield value;
    }
  } catch {
    signal.throwIfAborted();
    throw new Interrupted(host);
  } finally {
    clearTimeout(watchdog);
    signal.removeEventListener('abort', stop);
    stop();
  }
}

/** Hashes the existing part; a file that is too long is restarted. */
async function hashOf(path: string, file: HubFile): Promise<{ hash: Hash; size: number }> {
  const hash = createHash(file.digest.kind === 'git' ? 'sha1' : 'sha256');
  // Git hashes the length before the content.
  if (file.digest.kind === 'git') hash.update(`blob ${file.size}\0`);
  const size = await fileBytes(path);
  if (size > file.size) {
    await rm(path);
    return { hash, size: 0 };
  }
  if (size > 0) for await (const chunk of createReadStream(path)) hash.update(chunk);
  return { hash, size };
}

/** The downloaded file does not match the hub's digest. */
class DigestMismatch extends Failure {
  constructor(host: string, name: string) {
    super(
      'download_corrupt',
      `The digest of ${name} does not match the one on ${host}.`,
      'Try again later. If it persists, a proxy may be changing files.',
    );
  }
}
