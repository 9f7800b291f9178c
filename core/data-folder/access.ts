import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { WebSocket } from 'ws';
import { idPattern, isSame, keyOf, proofOf, randomHex } from '../contract/handshake.ts';
import { subProtocol } from '../contract/web-socket.ts';

/** Returns 256 random bits, in hex. */
export const newToken = () => randomBytes(32).toString('hex');

/** Time limit (ms) for a client's proof. */
const proofTimeout = 10_000;
/** Maximum length of a proof. */
const maxProofLength = 1024;

/** A client that requests the API's WebSocket, before authentication. */
interface Caller {
  id: string;
  nonce: string;
}

interface Refusal {
  status: number;
  reason: string;
}

/**
 * Returns the client that requests the WebSocket, or a refusal. Checking `Host` and `Origin` blocks foreign pages in the user's browser
 * (DNS rebinding); the proof that follows blocks other users of the machine.
 */
export function callerOf(request: IncomingMessage): Caller | Refusal {
  const refusal = refuseForeign(request);
  if (refusal) return refusal;
  const [protocol, id = '', nonce = ''] = (request.headers['sec-websocket-protocol'] ?? '')
    .split(',')
    .map((part) => part.trim());
  const isValid = protocol === subProtocol && idPattern.test(id) && idPattern.test(nonce);
  return isValid ? { id, nonce } : { status: 401, reason: 'no handshake' };
}

/** Returns a refusal if the request comes from a foreign page or names another host. */
export function refuseForeign({ headers }: IncomingMessage): Refusal | null {
  if (!isOwnHost(headers.host)) return { status: 403, reason: 'unknown host' };
  if (headers.origin !== undefined && !isOwnOrigin(headers.origin)) return { status: 403, reason: 'foreign origin' };
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
  const response = nextText(webSocket);
  webSocket.send(JSON.stringify({ nonce: nonces[1], proof: await proofOf(key, 'core', nonces) }));
  const text = await response;
  return text !== null && isSame(proofIn(text), await proofOf(key, 'client', nonces));
}

/** Resolves to the next message, or null if it is late, too long, empty or binary. */
function nextText(webSocket: WebSocket): Promise<string | null> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(null), proofTimeout);
    const end = (text: string | null) => {
      clearTimeout(timer);
      resolve(text);
    };
    webSocket.once('message', (data, isBinary) => {
      const text = isBinary ? '' : data.toString();
      end(text.length > 0 && text.length <= maxProofLength ? text : null);
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

/** Returns whether a `Host` header names this machine. The port may differ if ours is forwarded (SSH). */
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
