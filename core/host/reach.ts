import { WebSocket } from 'ws';
import type { ClosableChannel } from '../contract/channel.ts';
import { openWebSocket, type SocketConstructor } from '../contract/web-socket.ts';

/** Longest that a program at an address may take to say whether it is a StarPO Studio. */
const patience = 2000;

/** ws, since the page's own WebSocket can't be told to give up. */
class ImpatientWebSocket extends WebSocket {
  constructor(address: string, protocols: string[]) {
    super(address, protocols, { handshakeTimeout: patience });
  }
}

/** A channel to the core behind an address, or null where none answers to the token. */
export async function reachCore(origin: string, token: string): Promise<ClosableChannel | null> {
  try {
    return await openWebSocket(origin, token, ImpatientWebSocket as unknown as SocketConstructor);
  } catch {
    return null;
  }
}
