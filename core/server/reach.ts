import { WebSocket } from 'ws';
import { keyFromToken } from '../contract/handshake.ts';
import { type OpenedChannel, openWebSocket, type SocketConstructor } from '../contract/web-socket.ts';

/** Time in ms for the WebSocket handshake. Authentication may take twice as long. */
const handshakeTimeout = 2000;

/** Returns a channel to the server at an address, or null if no server with this token answers. The token is never sent. */
export async function reachCore(origin: string, token: string): Promise<OpenedChannel | null> {
  let socket: WebSocket | undefined;
  /** Uses ws, because the browser's WebSocket has no handshake timeout. */
  class ImpatientWebSocket extends WebSocket {
    constructor(address: string, protocols: string[]) {
      super(address, protocols, { handshakeTimeout });
      socket = this;
    }
  }
  // Ends the connection if a program accepts it but never responds.
  const timer = setTimeout(() => socket?.terminate(), 2 * handshakeTimeout);
  try {
    const key = await keyFromToken(token, origin);
    return await openWebSocket(origin, key, ImpatientWebSocket as unknown as SocketConstructor);
  } catch {
    return null;
  } finally {
    clearTimeout(timer);
  }
}
