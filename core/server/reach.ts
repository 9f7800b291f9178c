import { WebSocket } from 'ws';
import { keyFromToken } from '../contract/handshake.ts';
import { type OpenedChannel, openWebSocket, type SocketConstructor } from '../contract/web-socket.ts';

/** Longest that a program at an address may take to answer, and twice that to prove that it is a StarPO Studio. */
const patience = 2000;

/**
 * Returns a channel to the core at an address, or null if no core that knows the token answers. The token is never sent.
 */
export async function reachCore(origin: string, token: string): Promise<OpenedChannel | null> {
  let socket: WebSocket | undefined;
  /** Uses ws, because the browser's WebSocket has no handshake timeout. */
  class ImpatientWebSocket extends WebSocket {
    constructor(address: string, protocols: string[]) {
      super(address, protocols, { handshakeTimeout: patience });
      socket = this;
    }
  }
  // Ends the connection if a program accepts it but never responds.
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
