import { z } from 'zod';
import { checked, type Reply, reply, ServerError, type Session } from './session.ts';

/** An episode on a server that keeps one episode for all clients and serves it over HTTP. */
export class HttpSession implements Session {
  private readonly address: string;
  private readonly limit: number;

  constructor(address: string, limit: number) {
    this.address = address;
    this.limit = limit;
  }

  async reset(data: object): Promise<Reply> {
    return checked(reply, await request(`${this.address}/reset`, this.limit, data), 'answer to a reset');
  }

  async step(action: object): Promise<Reply> {
    return checked(reply, await request(`${this.address}/step`, this.limit, { action }), 'answer to a step');
  }

  async state(): Promise<Record<string, unknown>> {
    return checked(z.record(z.string(), z.unknown()), await request(`${this.address}/state`, this.limit), 'state');
  }

  async close(): Promise<void> {}
}

/** Requests JSON: with GET, or with POST and a body. Throws a {@link ServerError}: `unreachable`, `timeout`, `invalid`, `VALIDATION_ERROR` or `http_STATUS`. */
export async function request(url: string, seconds: number, body?: object): Promise<unknown> {
  const json = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
  const signal = AbortSignal.timeout(seconds * 1000);
  try {
    const response = await fetch(url, { ...(body && json), redirect: 'error', signal });
    if (response.ok) return await response.json();
    const text = (await response.text()).slice(0, 300);
    throw new ServerError(response.status === 422 ? 'VALIDATION_ERROR' : `http_${response.status}`, `${url}: ${text}`);
  } catch (error) {
    if (error instanceof ServerError) throw error;
    if (error instanceof SyntaxError) throw new ServerError('invalid', `${url} is not JSON: ${error.message}`);
    if (signal.aborted) throw new ServerError('timeout', `${url} did not answer within ${seconds} s`);
    const { cause, message } = error as Error;
    // An AggregateError of several addresses has no message.
    const reason = cause instanceof Error ? cause.message || String((cause as NodeJS.ErrnoException).code) : message;
    throw new ServerError('unreachable', `${url}: ${reason}`);
  }
}
