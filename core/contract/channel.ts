/** A bidirectional channel of text messages between the server and one client: a WebSocket, Electron's IPC or a pair in memory. */
export interface Channel {
  send(text: string): void;
  onMessage(handler: (text: string) => void): void;
  onClose(handler: () => void): void;
}

/** A channel that this side can close. */
export interface ClosableChannel extends Channel {
  /** Closes both ends. Idempotent. */
  close(): void;
}

/** Maximum size of a message from a client, in bytes. */
export const messageLimit = 1 << 20;

/** Creates two connected channels in memory. Messages arrive in order, never during `send`. Closing either end closes both. */
export function channelPair(): { left: ClosableChannel; right: ClosableChannel; close(): void } {
  let open = true;
  const closers: (() => void)[] = [];
  const close = () => {
    if (!open) return;
    open = false;
    for (const handler of closers) handler();
  };
  const left: ((text: string) => void)[] = [];
  const right: ((text: string) => void)[] = [];
  const end = (own: typeof left, other: typeof left): ClosableChannel => ({
    send: (text) => {
      queueMicrotask(() => {
        if (open) for (const handler of other) handler(text);
      });
    },
    onMessage: (handler) => void own.push(handler),
    onClose: (handler) => void closers.push(handler),
    close,
  });
  return { left: end(left, right), right: end(right, left), close };
}

/**
 * Joins a channel to a channel that is still being opened. Messages received until then are buffered and sent first; closing either closes the other.
 * If opening fails, `failed` is called with the reason and the channel is closed.
 */
export function joinChannels(
  channel: ClosableChannel,
  opening: Promise<ClosableChannel>,
  failed: (error: unknown) => void,
): void {
  const early: string[] = [];
  let closed = false;
  let deliver: (text: string) => void = (text) => void early.push(text);
  channel.onMessage((text) => deliver(text));
  channel.onClose(() => {
    closed = true;
  });
  opening.then(
    (other) => {
      if (closed) return other.close();
      other.onMessage((text) => channel.send(text));
      other.onClose(() => channel.close());
      channel.onClose(() => other.close());
      deliver = (text) => other.send(text);
      for (const text of early) other.send(text);
    },
    (error) => {
      failed(error);
      channel.close();
    },
  );
}
