import type { ClosableChannel } from './channel.ts';
import { Failure } from './failure.ts';

/** Name of our protocol; the token travels as a second sub-protocol, since a browser can't set headers and an address ends up in logs. */
export const subProtocol = 'starpo';

/** The part of the standard WebSocket that is used here: the browser's and Node's both have it. */
interface Socket {
  send(text: string): void;
  close(): void;
  addEventListener(type: string, handler: (event: { data?: unknown }) => void): void;
}
export type SocketConstructor = new (address: string, protocols: string[]) => Socket;

/**
 * Opens core's API over a WebSocket, in a browser or in Node.
 * `origin` such as `http://127.0.0.1:7717`. Throws `connection_refused` where it can't be opened, a wrong token included.
 */
export function openWebSocket(
  origin: string,
  token: string,
  WebSocketClass = (globalThis as unknown as { WebSocket: SocketConstructor }).WebSocket,
): Promise<ClosableChannel> {
  const socket = new WebSocketClass(`${origin.replace(/^http/, 'ws')}/api`, [subProtocol, token]);
  return new Promise((resolve, reject) => {
    socket.addEventListener('open', () =>
      resolve({
        send: (text) => socket.send(text),
        onMessage: (handler) =>
          socket.addEventListener('message', (event) => {
            if (typeof event.data === 'string') handler(event.data);
          }),
        onClose: (handler) => socket.addEventListener('close', handler),
        close: () => socket.close(),
      }),
    );
    const refused = () =>
      reject(
        new Failure(
          'connection_refused',
          `No connection to ${origin}.`,
          'Open the address that `starpo serve` printed, token included, and check that it still runs.',
        ),
      );
    socket.addEventListener('error', refused);
    socket.addEventListener('close', refused);
  });
}
