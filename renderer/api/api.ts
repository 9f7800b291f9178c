import type { Client } from '../../core/contract/client.ts';
import { Failure } from '../../core/contract/failure.ts';

/**
 * `lost`: nobody answers where core was; `refused`: nobody has answered yet; `signed-out`: core answers and doesn't know this window; `untrusted`: whoever answers isn't the core that
 * this window knows.
 */
export type ConnectionState = 'connecting' | 'open' | 'lost' | 'refused' | 'signed-out' | 'untrusted';

/** core's client as the pages see it: one object for the life of the window, whatever becomes of the connection under it. */
export interface Api extends Pick<Client, 'call' | 'on'> {
  /** Calls back at once with the present state, then at every change. */
  onState(handler: (state: ConnectionState) => void): () => void;
}

/** The answer will never come; who needs it asks again when the connection is back. */
export const isConnectionLost = (cause: unknown): boolean =>
  cause instanceof Failure && cause.code === 'connection_lost';
