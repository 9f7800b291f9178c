import type { IncomingMessage, ServerResponse } from 'node:http';
import { endOfOneTimeCode, isSame, keyOf, randomHex } from '../contract/handshake.ts';
import { refuseForeign } from '../data-folder/access.ts';

export const signInPath = '/api/sign-in';
/** Limit in bytes; real requests are far shorter. */
const bodyLimit = 1024;

/**
 * Exchanges this process's sign-in code, or a one-time code made with it, for a key for the page, `{id, key}`. Later processes of the data folder on the
 * same port accept the key too. The page stores it only in memory.
 */
export async function signIn(
  request: IncomingMessage,
  response: ServerResponse,
  { token, code, port, used }: { token: string; code: string; port: string; used: Set<string> },
): Promise<void> {
  const answer = (status: number, body: object) =>
    void response
      .writeHead(status, { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' })
      .end(JSON.stringify(body));
  const refused = refuseForeign(request);
  if (refused) return answer(refused.status, { error: refused.reason });
  // A foreign page can't send this type without a preflight request, which the server does not answer.
  if (request.method !== 'POST' || request.headers['content-type'] !== 'application/json')
    return answer(405, { error: 'use POST with JSON' });
  const given = await codeIn(request);
  if (!isSame(given, code) && !(await redeem(given, code, used))) return answer(401, { error: 'wrong code' });
  const id = randomHex();
  answer(200, { id, key: await keyOf(token, id, port) });
}

/** Returns whether a one-time code is valid, and adds it to the used ones. */
async function redeem(given: string, code: string, used: Set<string>): Promise<boolean> {
  const until = await endOfOneTimeCode(given, code);
  if (until === null || until < Date.now() || used.has(given)) return false;
  used.add(given);
  return true;
}

/** Returns the code in the body, or an empty string. */
async function codeIn(request: IncomingMessage): Promise<string> {
  let body = '';
  for await (const piece of request) {
    body += piece;
    if (body.length > bodyLimit) return '';
  }
  try {
    return String((JSON.parse(body) as { code?: unknown } | null)?.code ?? '');
  } catch {
    return '';
  }
}
