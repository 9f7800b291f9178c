import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { WebSocket } from 'ws';
import { idPattern, isSame, keyOf, proofOf, randomHex } from '../contract/handshake.ts';
import { subProtocol } from '../contract/web-socket.ts';

/** 256 random bits, in hex. */
export const newToken = () => randomBytes(32).toString('hex');

/** Longest that a client may take to prove itself, in ms, and longest proof. */
const patience = 10_000;
const proofLimit = 1024;

/** Who asks for the API's WebSocket, by its own word. */
export interface Caller {
  id: string;
  nonce: string;
}

export interface Refusal {
  status: number;
  reason: string;
}

/**
 * Who asks for the API's WebSocket, or why it is refused. `Host` and `Origin` are checked so that no foreign page reaches core through the person's browser
 * (DNS rebinding); the proof that follows keeps other users of the machine out.
 */
export function callerOf(request: IncomingMessage): Caller | Refusal {
  const refused = foreignness(request);
  if (refused) return refused;
  const [protocol, id = '', nonce = ''] = (request.headers['sec-websocket-protocol'] ?? '')
    .split(',')
    .map((part) => part.trim());
  const known = protocol === subProtocol && idPattern.test(id) && idPattern.test(nonce);
  return known ? { id, nonce } : { status: 401, reason: 'no handshake' };
}

/** Why a request that comes from a foreign page, or means another host, is refused. */
export function foreignness({ headers }: IncomingMessage): Refusal | null {
  if (!isOwnHost(headers.host)) return { status: 403, reason: 'unknown host' };
  if (headers.origin !== undefined && !isOwnOrigin(headers.origin))
    return { status: 403, reason: 'foreign origin' };
  return null;
}

/**
 * Proves to a client that we know its key, and lets it prove the same. Gives whether it did. `port`: ours, which is part of the key, so that whoever has
 * another port can't pass what a client tells it on to us.
 */
export async function makeSure(
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

/** Null where none comes in time, or one that is too long. */
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

/** Whether a `Host` header names this machine; the port may be another where ours is forwarded (SSH). */
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
