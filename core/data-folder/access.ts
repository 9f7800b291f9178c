import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { WebSocket } from 'ws';
import { idPattern, isSame, keyOf, proofOf, randomHex } from '../contract/handshake.ts';
import { subProtocol } from '../contract/web-socket.ts';

/** 256 random bits, in hex. */
export const newToken = () => randomBytes(32).toString('hex');

/** Time limit for a client's proof, in ms, and its length limit. */
const patience = 10_000;
const proofLimit = 1024;

/** A client that requests the API's WebSocket, before authentication. */
export interface Caller {
  id: string;
  nonce: string;
}

export interface Refusal {
  status: number;
  reason: string;
}

/**
 * Returns the client that requests the WebSocket, or why it is refused. Checking `Host` and `Origin` blocks foreign pages in the user's browser
 * (DNS rebinding); the proof that follows blocks other users of the machine.
 */
export function callerOf(request: IncomingMessage): Caller | Refusal {
  const refused = refuseForeign(request);
  if (refused) return refused;
  const [protocol, id = '', nonce = ''] = (request.headers['sec-websocket-protocol'] ?? '')
    .split(',')
    .map((part) => part.trim());
  const known = protocol === subProtocol && idPattern.test(id) && idPattern.test(nonce);
  return known ? { id, nonce } : { status: 401, reason: 'no handshake' };
}

/** Returns a refusal if the request comes from a foreign page or names another host. */
export function refuseForeign({ headers }: IncomingMessage): Refusal | null {
  if (!isOwnHost(headers.host)) return { status: 403, reason: 'unknown host' };
  if (headers.origin !== undefined && !isOwnOrigin(headers.origin))
    return { status: 403, reason: 'foreign origin' };
  return null;
}

/**
 * Proves to a client that we know its key and verifies the client's proof. Our `port` is part of the key, so that a server on
 * another port can't relay the client's messages to us.
 */
export async function authenticate(
  webSocket: WebSocket,
  { id, nonce: theirs }: Caller,
  { token, port }: { token: string; port: string },
): Promise<boolean> {
  const key = await keyOf(token, id, port);
  const nonces = [theirs, randomHex()] as const;
  const answer = nextText(webSocket);
  webSocket.send(JSON.stringify({ nonce: nonces[1], proof: await proofOf(key, 'core', nonces) }));
  const text = await answer;
  return text !== null && isSame(proofIn(text), await proofOf(key, 'client', nonces));
}

/** Resolves to null if no message arrives in time, or one that is too long. */
function nextText(webSocket: WebSocket): Promise<string | null> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(null), patience);
    const end = (text: string | null) => {
      clearTimeout(timer);
      resolve(text);
    };
    webSocket.once('message', (data, isBinary) => {
      const text = isBinary ? '' : data.toString();
      end(text.length > 0 && text.length <= proofLimit ? text : null);
    });
    webSocket.once('close', () => end(null));
  });
}

function proofIn(text: string): string {
  try {
    return String((JSON.parse(text) as { proof?: unknown } | null)?.proof);
  } catch {
    return '';
  }
}

function isLoopbackName(name: string): boolean {
  return name === 'localhost' || name === '127.0.0.1' || name === '[::1]';
}

/** Whether a `Host` header names this machine. The port may differ if ours is forwarded (SSH). */
export function isOwnHost(host: string | undefined): boolean {
  const match = /^(\[[^\]]*\]|[^:]*)(:\d+)?$/.exec(host ?? '');
  return match !== null && isLoopbackName(match[1]!.toLowerCase());
}

function isOwnOrigin(origin: string): boolean {
  try {
    const { protocol, hostname } = new URL(origin);
    return protocol === 'http:' && isLoopbackName(hostname);
  } catch {
    return false;
  }
}
