import { WebSocket } from 'ws';
import { keyFromToken } from '../contract/handshake.ts';
import { type OpenedChannel, openWebSocket, type SocketConstructor } from '../contract/web-socket.ts';

/** Longest that a program at an address may take to say whether it is a StarPO Studio. */
const patience = 2000;

/** ws, since the page's own WebSocket can't be told to give up. */
class ImpatientWebSocket extends WebSocket {
  constructor(address: string, protocols: string[]) {
    super(address, protocols, { handshakeTimeout: patience });
  }
}

/**
 * A channel to the core behind an address, or null where none answers that knows the token; nobody else learns it, whoever has the address by now.
 */
export async function reachCore(origin: string, token: string): Promise<OpenedChannel | null> {
  try {
    const key = await keyFromToken(token, origin);
    const opening = openWebSocket(origin, key, ImpatientWebSocket as unknown as SocketConstructor);
    return await Promise.race([opening, givenUp(opening)]);
  } catch {
    return null;
  }
}

/** Null after a while: a program that says nothing is none of ours. What is opened later is closed. */
function givenUp(opening: Promise<OpenedChannel>): Promise<null> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      resolve(null);
      opening.then((channel) => channel.close()).catch(() => {});
    }, 2 * patience);
    opening.finally(() => clearTimeout(timer)).catch(() => {});
  });
}
