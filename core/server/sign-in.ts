import type { IncomingMessage, ServerResponse } from 'node:http';
import { isSame, keyOf, randomHex } from '../contract/handshake.ts';
import { refuseForeign } from '../data-folder/access.ts';

export const signInPath = '/api/sign-in';
/** A request is far shorter. */
const bodyLimit = 1024;

/**
 * Gives a page that has this process's sign-in code a key of its own, as `{id, key}`, which a later process of the data folder on the same port takes too.
 * The page keeps it in its memory alone.
 */
export async function signIn(
  request: IncomingMessage,
  response: ServerResponse,
  { token, code, port }: { token: string; code: string; port: string },
): Promise<void> {
  const answer = (status: number, body: object) =>
    void response
      .writeHead(status, { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' })
      .end(JSON.stringify(body));
  const refused = refuseForeign(request);
  if (refused) return answer(refused.status, { error: refused.reason });
  // A foreign page can't send this type without a preflight request, which the server does not answer.
  if (request.method !== 'POST' || request.headers['content-type'] !== 'application/json')
    return answer(405, { error: 'POST with JSON' });
  if (!isSame(await codeIn(request), code)) return answer(401, { error: 'wrong code' });
  const id = randomHex();
  answer(200, { id, key: await keyOf(token, id, port) });
}

/** Empty if missing. */
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
