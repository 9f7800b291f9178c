import type { Page, WebSocketRoute } from 'playwright-core';

/** What becomes of core's answers on their way to a page. */
export type WireMode =
  | 'through'
  /** They never come. */
  | 'held'
  /** Each says that core failed, but for those about notices. */
  | 'refused';

interface Message {
  /** `q` asks, `s` answers. */
  t?: 'q' | 's';
  i?: string;
  a?: [name: string, ...unknown[]];
  r?: unknown;
}

const failure = {
  ok: false,
  error: { code: 'internal', message: 'Core could not answer.', hint: 'Ask again.' },
};

/** The socket between a page and core, which a test holds in its hand. */
export class Wire {
  mode: WireMode = 'through';
  private readonly asked = new Map<string, string>();
  private waiting: (() => void)[] = [];
  private sockets: WebSocketRoute[] = [];

  /** Of every socket that the page opens from now on. */
  static async tap(page: Page): Promise<Wire> {
    const wire = new Wire();
    await page.routeWebSocket(/\/api$/, (socket) => wire.join(socket));
    return wire;
  }

  /** Settles once everything that was asked is answered. */
  async settled(): Promise<void> {
    while (this.asked.size > 0)
      await new Promise<void>((resolve) => {
        this.waiting.push(resolve);
      });
  }

  /** Ends the connection, as a network does. */
  async cut(): Promise<void> {
    await Promise.all(this.sockets.splice(0).map((socket) => socket.close()));
    this.asked.clear();
  }

  private join(socket: WebSocketRoute): void {
    const server = socket.connectToServer();
    this.sockets.push(socket);
    socket.onMessage((text) => {
      const { t, i, a } = read(text);
      if (t === 'q' && i && a) this.asked.set(i, a[0]);
      server.send(text);
    });
    server.onMessage((text) => {
      const message = read(text);
      const name = message.t === 's' && message.i ? this.asked.get(message.i) : undefined;
      if (name === undefined) return socket.send(text);
      this.asked.delete(message.i!);
      const own = name.startsWith('notices.');
      if (own || this.mode === 'through') socket.send(text);
      else if (this.mode === 'refused') socket.send(JSON.stringify({ ...message, r: failure }));
      if (this.asked.size === 0) for (const wake of this.waiting.splice(0)) wake();
    });
  }
}

/** What isn't of the API, as the handshake, has none of a message's fields. */
function read(text: string | Buffer): Message {
  try {
    return JSON.parse(String(text));
  } catch {
    return {};
  }
}
