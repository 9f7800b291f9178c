/** A two-way pipe of text messages between core and one client: a WebSocket, Electron's IPC, or a pair in memory. */
export interface Channel {
  send(text: string): void;
  onMessage(handler: (text: string) => void): void;
  onClose(handler: () => void): void;
}

/** Two ends of a pipe in memory. Messages arrive in order, never during `send`. */
export function channelPair(): { left: Channel; right: Channel; close(): void } {
  const left = end();
  const right = end();
  left.peer = right;
  right.peer = left;
  return {
    left: left.channel,
    right: right.channel,
    close: () => {
      for (const each of [left, right]) for (const handler of each.closers) handler();
    },
  };
}

interface End {
  channel: Channel;
  peer: End | null;
  handlers: ((text: string) => void)[];
  closers: (() => void)[];
}

function end(): End {
  const self: End = {
    peer: null,
    handlers: [],
    closers: [],
    channel: {
      send: (text) => {
        queueMicrotask(() => {
          for (const handler of self.peer?.handlers ?? []) handler(text);
        });
      },
      onMessage: (handler) => void self.handlers.push(handler),
      onClose: (handler) => void self.closers.push(handler),
    },
  };
  return self;
}
