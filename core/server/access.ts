import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { subProtocol } from '../contract/web-socket.ts';

/** 256 random bits, in hex. */
export const newToken = () => randomBytes(32).toString('hex');

/**
 * Why a request for the API's WebSocket is refused, or null. `Host` and `Origin` are checked so that no foreign page reaches core through
 * the person's browser (DNS rebinding); the token keeps other users of the machine out.
 */
export function refusal(request: IncomingMessage, token: string): { status: number; reason: string } | null {
  if (!isOwnHost(request.headers.host)) return { status: 403, reason: 'unknown host' };
  const { origin } = request.headers;
  if (origin !== undefined && !isOwnOrigin(origin)) return { status: 403, reason: 'foreign origin' };
  const [protocol, offered] = (request.headers['sec-websocket-protocol'] ?? '')
    .split(',')
    .map((part) => part.trim());
  if (protocol !== subProtocol || !sameText(offered ?? '', token))
    return { status: 401, reason: 'wrong token' };
  return null;
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

/** Compares without telling by its time how much of a guess was right. */
function sameText(left: string, right: string): boolean {
  const [a, b] = [Buffer.from(left), Buffer.from(right)];
  return a.length === b.length && timingSafeEqual(a, b);
}
