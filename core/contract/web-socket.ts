import type { ClosableChannel } from './channel.ts';
import { Failure } from './failure.ts';
import { type Challenge, type ClientKey, isSame, proofOf, randomHex, type Welcome } from './handshake.ts';

/** WebSocket sub-protocol. The client's id and nonce are sent as additional sub-protocols, since browsers can't set headers. */
export const subProtocol = 'starpo';

/** The subset of WebSocket that browsers and Node share. */
interface Socket {
  send(text: string): void;
  close(): void;
  addEventListener(type: string, handler: (event: { data?: unknown }) => void): void;
}
export type SocketConstructor = new (address: string, protocols: string[]) => Socket;

export interface OpenedChannel extends ClosableChannel, Welcome {}

/**
 * Opens the API over a WebSocket after both sides have proved that they know the key. `origin` is for example `http://127.0.0.1:7717`.
 * Throws `connection_refused` if the socket can't be opened or the server rejects the key, `host_untrusted` if the server doesn't know it.
 */
export async function openWebSocket(
  origin: string,
  { id, key }: ClientKey,
  WebSocketClass = (globalThis as unknown as { WebSocket: SocketConstructor }).WebSocket,
): Promise<OpenedChannel> {
  const nonce = randomHex();
  const socket = new WebSocketClass(`${origin.replace(/^http/, 'ws')}/api`, [subProtocol, id, nonce]);
  const inbox = new Inbox(socket);
  try {
    const challenge = read<Challenge>(await inbox.next());
    const nonces = [nonce, String(challenge.nonce)] as const;
    if (!isSame(String(challenge.proof), await proofOf(key, 'core', nonces))) throw untrusted(origin);
    socket.send(JSON.stringify({ proof: await proofOf(key, 'client', nonces) }));
    const { code } = read<Welcome>(await inbox.next());
    return {
      code: String(code),
      send: (text) => socket.send(text),
      onMessage: (handler) => inbox.onMessage(handler),
      onClose: (handler) => inbox.onClose(handler),
      close: () => socket.close(),
    };
  } catch (error) {
    socket.close();
    throw error instanceof Failure ? error : refused(origin);
  }
}

/** Reads a socket's messages one at a time during the handshake, then forwards all of them. */
class Inbox {
  private readonly early: string[] = [];
  private readonly closeHandlers: (() => void)[] = [];
  private deliver: (text: string) => void = (text) => void this.early.push(text);
  private fail: () => void = () => {};
  private closed = false;

  constructor(socket: Socket) {
    socket.addEventListener('message', (event) => {
      if (typeof event.data === 'string') this.deliver(event.data);
    });
    const close = () => {
      if (this.closed) return;
      this.closed = true;
      this.fail();
      for (const handler of this.closeHandlers) handler();
    };
    socket.addEventListener('error', close);
    socket.addEventListener('close', close);
  }

  /** Rejects if the socket closes first. */
  next(): Promise<string> {
    return new Promise((resolve, reject) => {
      const early = this.early.shift();
      if (early !== undefined) return resolve(early);
      if (this.closed) return reject(new Error('closed'));
      this.fail = () => reject(new Error('closed'));
      this.deliver = (text) => {
        this.deliver = (next) => void this.early.push(next);
        resolve(text);
      };
    });
  }

  onMessage(handler: (text: string) => void): void {
    this.deliver = handler;
    for (const text of this.early.splice(0)) handler(text);
  }

  onClose(handler: () => void): void {
    if (this.closed) handler();
    else this.closeHandlers.push(handler);
  }
}

const read = <T>(text: string) => JSON.parse(text) as T;

const refused = (origin: string) =>
  new Failure(
    'connection_refused',
    `Can't connect to ${origin}.`,
    'Open the address that `starpo serve` printed, and check that it is still running.',
  );

const untrusted = (origin: string) =>
  new Failure(
    'host_untrusted',
    `A different server is running at ${origin}; no data was sent.`,
    'Start `starpo serve` again, on another port if this port is taken.',
  );
