import { WebSocket } from 'ws';
import { z } from 'zod';
import { checked, type Reply, reply, ServerError, type Session } from './session.ts';

/** Largest message that is accepted, as in OpenEnv's server. */
const maxMessage = 16 << 20;
/** How long to wait for the server's close frame, in ms. */
const closeLimit = 1000;

const message = z.object({ type: z.string(), data: z.record(z.string(), z.unknown()) });
const serverError = z.object({ code: z.string(), message: z.string(), errors: z.array(z.unknown()).optional() });

interface Limits {
  connect_seconds: number;
  answer_seconds: number;
}

/** A WebSocket with at most one request without an answer. It is used for one episode. */
export class SocketSession implements Session {
  private readonly socket: WebSocket;
  private readonly limit: number;
  private readonly closed: Promise<void>;
  private pending: { resolve: (data: unknown) => void; reject: (error: ServerError) => void; type: string } | null =
    null;
  private ended: ServerError | null = null;

  private constructor(socket: WebSocket, limit: number) {
    this.socket = socket;
    this.limit = limit;
    this.closed = new Promise((resolve) => socket.once('close', () => resolve()));
    socket.on('message', (data, isBinary) => this.receive(isBinary ? null : String(data)));
    socket.on('error', (error) => this.fail(new ServerError('closed', `the connection failed: ${error.message}`)));
    socket.on('close', (code, reason) =>
      this.fail(new ServerError('closed', `the server closed the connection (${[code, reason].join(' ').trim()})`)),
    );
  }

  /** Throws `unreachable`. */
  static async open(
    address: string,
    { connect_seconds: connect, answer_seconds: answer }: Limits,
  ): Promise<SocketSession> {
    const options = { handshakeTimeout: connect * 1000, maxPayload: maxMessage, perMessageDeflate: false };
    const socket = new WebSocket(address, options);
    const session = new SocketSession(socket, answer);
    await new Promise<void>((resolve, reject) => {
      socket.once('open', resolve);
      socket.once('error', ({ message }) => reject(new ServerError('unreachable', `${address}: ${message}`)));
    });
    return session;
  }

  async reset(data: object): Promise<Reply> {
    return checked(reply, await this.request('observation', { type: 'reset', data }), 'answer to a reset');
  }

  async step(action: object): Promise<Reply> {
    return checked(reply, await this.request('observation', { type: 'step', data: action }), 'answer to a step');
  }

  async state(): Promise<Record<string, unknown>> {
    return checked(z.record(z.string(), z.unknown()), await this.request('state', { type: 'state' }), 'state');
  }

  async close(): Promise<void> {
    if (this.pending || this.ended) this.socket.terminate();
    else this.socket.send('{"type":"close"}');
    const timer = setTimeout(() => this.socket.terminate(), closeLimit);
    await this.closed;
    clearTimeout(timer);
  }

  private request(type: string, content: object): Promise<unknown> {
    if (this.ended) return Promise.reject(this.ended);
    if (this.pending) return Promise.reject(new ServerError('invalid', 'an earlier request has no answer yet'));
    return new Promise((resolve, reject) => {
      const late = new ServerError('timeout', `the server did not answer within ${this.limit} s`);
      // A late answer would be taken for the next one, because answers have no ids.
      const timer = setTimeout(() => this.end(late), this.limit * 1000);
      const settle =
        <T>(then: (value: T) => void) =>
        (value: T) => {
          clearTimeout(timer);
          this.pending = null;
          then(value);
        };
      this.pending = { type, resolve: settle(resolve), reject: settle(reject) };
      this.socket.send(JSON.stringify(content));
    });
  }

  private receive(text: string | null): void {
    const read = message.safeParse(parsed(text));
    const { type, data } = read.success ? read.data : {};
    if (!data) this.end(new ServerError('invalid', `the server sent an invalid message: ${excerpt(text)}`));
    else if (type === 'error') this.receiveError(data);
    else if (!this.pending) this.end(new ServerError('invalid', `the server sent ${excerpt(text)} without a request`));
    else if (type !== this.pending.type)
      this.end(new ServerError('invalid', `the server sent ${excerpt(text)} instead of "${this.pending.type}"`));
    else this.pending.resolve(data);
  }

  private receiveError(data: unknown): void {
    const { code, message, errors } = serverError.catch({ code: 'invalid', message: JSON.stringify(data) }).parse(data);
    const details = errors ? ` ${excerpt(JSON.stringify(errors))}` : '';
    const error = new ServerError(code, `${message}${details}`.slice(0, 500));
    // Other errors end the episode, since the server may have closed it or executed half of a step.
    if (code === 'VALIDATION_ERROR' && this.pending) this.pending.reject(error);
    else this.end(error);
  }

  private end(error: ServerError): void {
    this.fail(error);
    this.socket.terminate();
  }

  private fail(error: ServerError): void {
    this.ended ??= error;
    this.pending?.reject(this.ended);
  }
}

function parsed(text: string | null): unknown {
  try {
    return text === null ? null : JSON.parse(text);
  } catch {
    return null;
  }
}

const excerpt = (text: string | null) => (text === null ? 'a binary message' : text.slice(0, 200));
