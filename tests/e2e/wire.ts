import type { Page, WebSocketRoute } from 'playwright-core';

/** How the wire treats the server's answers, except those about subscriptions. */
export type WireMode =
  | 'through'
  /** Answers are dropped. */
  | 'held'
  /** Answers are replaced by errors. */
  | 'refused';

interface Message {
  /** `q` is a request, `s` an answer. */
  t?: 'q' | 's';
  i?: string;
  a?: [name: string, ...unknown[]];
  r?: { ok: boolean; value?: unknown };
}

const failure = {
  ok: false,
  error: { code: 'internal', message: 'The server could not answer.', hint: 'Try again.' },
};

/** The socket between a page and the server, controlled by a test. */
export class Wire {
  mode: WireMode = 'through';
  private readonly changes = new Map<string, (value: unknown) => unknown>();
  private readonly pending = new Map<string, string>();
  private waiting: (() => void)[] = [];
  private sockets: WebSocketRoute[] = [];

  /** Applies to all sockets opened from now on. */
  static async tap(page: Page): Promise<Wire> {
    const wire = new Wire();
    await page.routeWebSocket(/\/api$/, (socket) => wire.join(socket));
    return wire;
  }

  /** Changes the values of a method's successful answers. */
  rewrite<T>(name: string, change: (value: T) => unknown): void {
    this.changes.set(name, change as (value: unknown) => unknown);
  }

  /** Resolves when all requests are answered. */
  async settled(): Promise<void> {
    while (this.pending.size > 0)
      await new Promise<void>((resolve) => {
        this.waiting.push(resolve);
      });
  }

  /** Closes the connection like a network failure. */
  async cut(): Promise<void> {
    await Promise.all(this.sockets.splice(0).map((socket) => socket.close()));
    this.pending.clear();
  }

  private join(socket: WebSocketRoute): void {
    const server = socket.connectToServer();
    this.sockets.push(socket);
    socket.onMessage((text) => {
      const { t, i, a } = read(text);
      if (t === 'q' && i && a) this.pending.set(i, a[0]);
      server.send(text);
    });
    server.onMessage((text) => {
      const message = read(text);
      const name = message.t === 's' && message.i ? this.pending.get(message.i) : undefined;
      if (name === undefined) return socket.send(text);
      this.pending.delete(message.i!);
      const own = name.startsWith('notices.');
      const change = this.changes.get(name);
      if (change && message.r?.ok)
        socket.send(JSON.stringify({ ...message, r: { ok: true, value: change(message.r.value) } }));
      else if (own || this.mode === 'through') socket.send(text);
      else if (this.mode === 'refused') socket.send(JSON.stringify({ ...message, r: failure }));
      if (this.pending.size === 0) for (const wake of this.waiting.splice(0)) wake();
    });
  }
}

/** Frames outside the API, such as the handshake, lack these fields. */
function read(text: string | Buffer): Message {
  try {
    return JSON.parse(String(text));
  } catch {
    return {};
  }
}
