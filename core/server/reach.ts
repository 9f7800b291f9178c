import { WebSocket } from 'ws';
import { keyFromToken } from '../contract/handshake.ts';
import { type OpenedChannel, openWebSocket, type SocketConstructor } from '../contract/web-socket.ts';

/** Longest that a program at an address may take to answer, and twice that to prove that it is a StarPO Studio. */
const patience = 2000;

/**
 * A channel to the core behind an address, or null where none answers that knows the token; nobody else learns it, whoever has the address by now.
 */
export async function reachCore(origin: string, token: string): Promise<OpenedChannel | null> {
  let socket: WebSocket | undefined;
  /** ws, since the page's own WebSocket can't be told to give up. */
  class ImpatientWebSocket extends WebSocket {
    constructor(address: string, protocols: string[]) {
      super(address, protocols, { handshakeTimeout: patience });
      socket = this;
    }
  }
  // A program that accepts and says nothing is none of ours, and is hung up on.
  const timer = setTimeout(() => socket?.terminate(), 2 * patience);
  try {
    const key = await keyFromToken(token, origin);
    return await openWebSocket(origin, key, ImpatientWebSocket as unknown as SocketConstructor);
  } catch {
    return null;
  } finally {
    clearTimeout(timer);
  }
}
