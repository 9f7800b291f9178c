import { constants, type FileHandle, open, realpath } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join, resolve, sep } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { exportId } from '../contract/exports.ts';
import { isSame } from '../contract/handshake.ts';
import { exportFolder } from '../exports/exports.ts';
import { runFolder, runIdPattern } from '../run-directory/names.ts';
import { foreignness } from './access.ts';

export const filesPath = '/api/files/';
export const exportsPath = '/api/exports/';

/**
 * The one way on which files travel: `GET /api/files/RUN/PATH` gives a file of a run directory, `GET /api/exports/ID/NAME` one that was made of it (exports/), to whoever
 * has this process's sign-in code, as `Authorization: Bearer CODE`. Always as something to save: no page is ever made of what a run wrote.
 */
export async function sendFile(
  request: IncomingMessage,
  response: ServerResponse,
  { home, code }: { home: string; code: string },
): Promise<void> {
  const refuse = (status: number, reason: string) =>
    void response.writeHead(status, { 'Content-Type': 'text/plain' }).end(`${reason}\n`);
  const refused = foreignness(request);
  if (refused) return refuse(refused.status, refused.reason);
  if (request.method !== 'GET') return refuse(405, 'Only GET.');
  if (!isSame(request.headers.authorization ?? '', `Bearer ${code}`)) return refuse(401, 'not signed in');
  const path = await locate(home, request.url!);
  const file = path === null ? null : await openPlain(path);
  if (!file) return refuse(404, 'no such file');
  try {
    const { size } = await file.stat();
    response.writeHead(200, {
      'Content-Type': 'application/octet-stream',
      'Content-Length': size,
      'Content-Disposition': 'attachment',
      'Content-Security-Policy': 'sandbox',
      'X-Content-Type-Options': 'nosniff',
      'Cache-Control': 'no-store',
    });
    // A file that grows meanwhile is given as long as it was.
    if (size === 0) response.end();
    else await pipeline(file.createReadStream({ end: size - 1, autoClose: false }), response);
  } finally {
    await file.close();
  }
}

/** Null for what would lead out of the run's or the export's folder, by its name or by a link. */
async function locate(home: string, address: string): Promise<string | null> {
  try {
    const exported = address.startsWith(exportsPath);
    const inner = address.slice((exported ? exportsPath : filesPath).length).split('?')[0]!;
    const [id = '', ...parts] = decodeURIComponent(inner).split('/');
    const known = exported ? exportId.safeParse(id).success : runIdPattern.test(id);
    if (!known || parts.some((part) => part === '' || part.includes('\0'))) return null;
    const folder = await realpath(exported ? exportFolder(home, id) : runFolder(home, id));
    const path = resolve(join(folder, ...parts));
    return path.startsWith(folder + sep) && (await realpath(path)) === path ? path : null;
  } catch {
    return null;
  }
}

/** Null where there is no plain file. */
async function openPlain(path: string): Promise<FileHandle | null> {
  const { O_NOFOLLOW = 0, O_NONBLOCK = 0, O_RDONLY } = constants;
  const file = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch(() => null);
  if (file && !(await file.stat()).isFile()) {
    await file.close();
    return null;
  }
  return file;
}
