import { constants, type FileHandle, open, realpath, rm } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { join, resolve, sep } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { exportId } from '../contract/exports.ts';
import { isSame, linkLifetime, linkProof } from '../contract/handshake.ts';
import { fileId } from '../contract/imports.ts';
import { refuseForeign } from '../data-folder/access.ts';
import { exportFolder } from '../exports/exports.ts';
import { receive } from '../imports/exchange.ts';
import { runFolder, runIdPattern } from '../run-directory/names.ts';

export const filesPath = '/api/files/';
export const exportsPath = '/api/exports/';

export const uploadsPath = '/api/uploads/';

/** Time in ms without data after which an upload is aborted. */
const uploadTimeout = 60_000;

interface Endpoint {
  home: string;
  code: string;
}

type Refuse = (status: number, reason: string) => void;

/**
 * Serves files to clients with this process's sign-in code (`Authorization: Bearer CODE`) or, for downloads, a signed link of the renderer (`linkTo`):
 * `GET /api/files/RUN/PATH` sends a file of a run directory, `GET /api/exports/ID/NAME` a file of an export, which is deleted after a download by link,
 * and `PUT /api/uploads/FILE` receives an upload. Files are streamed.
 */
export async function passFile(request: IncomingMessage, response: ServerResponse, endpoint: Endpoint): Promise<void> {
  const refuse: Refuse = (status, reason) =>
    void response
      .writeHead(status, { 'Content-Type': 'text/plain', Connection: 'close' })
      .end(`${reason}\n`, () => request.destroy());
  const refused = refuseForeign(request);
  if (refused) return refuse(refused.status, refused.reason);
  const [path = '', query = ''] = request.url!.split('?');
  const isUpload = path.startsWith(uploadsPath);
  if (request.method !== (isUpload ? 'PUT' : 'GET')) return refuse(405, isUpload ? 'Use PUT.' : 'Use GET.');
  const linked = !isUpload && (await isLink(path, query, endpoint.code));
  if (!linked && !isSame(request.headers.authorization ?? '', `Bearer ${endpoint.code}`))
    return refuse(401, 'not signed in');
  if (isUpload) return receiveUpload(request, response, path.slice(uploadsPath.length), endpoint, refuse);
  const isSent = await sendFile(response, path, endpoint, refuse);
  if (isSent && linked && path.startsWith(exportsPath))
    await rm(exportFolder(endpoint.home, path.split('/')[3]!), { recursive: true, force: true });
}

/** Returns whether an address is a valid, unexpired link made by the renderer (`linkTo`). */
async function isLink(path: string, query: string, code: string): Promise<boolean> {
  const link = new URLSearchParams(query);
  const until = Number(link.get('until'));
  const left = until - Date.now();
  return left > 0 && left <= linkLifetime && isSame(link.get('proof') ?? '', await linkProof(code, path, until));
}

/** Sends a file as a download, so that a browser never renders files of a run. Returns false if the file was not found. */
async function sendFile(response: ServerResponse, path: string, { home }: Endpoint, refuse: Refuse): Promise<boolean> {
  const located = await locate(home, path);
  const file = located === null ? null : await openPlain(located);
  if (!file) {
    refuse(404, 'The file was not found.');
    return false;
  }
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
    // A file that grows during the transfer is sent at its initial length.
    if (size === 0) response.end();
    else await pipeline(file.createReadStream({ end: size - 1, autoClose: false }), response);
    return true;
  } finally {
    await file.close();
  }
}

/** Receives an upload announced by `uploads.begin`. Its length must match the announced one. */
async function receiveUpload(
  request: IncomingMessage,
  response: ServerResponse,
  file: string,
  { home }: Endpoint,
  refuse: Refuse,
): Promise<void> {
  const length = Number(request.headers['content-length'] ?? Number.NaN);
  if (!fileId.safeParse(file).success) return refuse(404, 'The upload no longer exists.');
  if (!Number.isSafeInteger(length)) return refuse(411, 'Content-Length is missing.');
  request.setTimeout(uploadTimeout, () => request.destroy());
  try {
    const problem = await receive(home, file, length, request);
    if (problem === 'unknown') return refuse(404, 'The upload no longer exists.');
    if (problem === 'length') return refuse(413, 'The size of the file has changed.');
    response.writeHead(204).end();
  } catch (error) {
    const full = (error as NodeJS.ErrnoException).code === 'ENOSPC';
    refuse(full ? 507 : 500, full ? 'The disk is full.' : 'The file could not be written.');
  }
}

/** Returns the path of a file, or null if it is outside the folder of the run or export, also through a symbolic link. */
async function locate(home: string, address: string): Promise<string | null> {
  try {
    const exported = address.startsWith(exportsPath);
    const inner = address.slice((exported ? exportsPath : filesPath).length);
    const [id = '', ...parts] = decodeURIComponent(inner).split('/');
    const isValidId = exported ? exportId.safeParse(id).success : runIdPattern.test(id);
    if (!isValidId || parts.some((part) => part === '' || part.includes('\0'))) return null;
    const folder = await realpath(exported ? exportFolder(home, id) : runFolder(home, id));
    const path = resolve(join(folder, ...parts));
    return path.startsWith(folder + sep) && (await realpath(path)) === path ? path : null;
  } catch {
    return null;
  }
}

/** Returns null if the path is not a regular file. */
async function openPlain(path: string): Promise<FileHandle | null> {
  const { O_NOFOLLOW = 0, O_NONBLOCK = 0, O_RDONLY } = constants;
  const file = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch(() => null);
  if (file && !(await file.stat()).isFile()) {
    await file.close();
    return null;
  }
  return file;
}
