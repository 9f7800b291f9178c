import type { Client } from '../../core/contract/client.ts';
import { Failure } from '../../core/contract/failure.ts';

/**
 * `lost`: the server stopped answering; `refused`: no server has answered yet; `signed-out`: the server rejects
 * this window's credentials; `untrusted`: a different server answers; `outdated`: the page and the server are of different builds.
 */
export type ConnectionState = 'connecting' | 'open' | 'lost' | 'refused' | 'signed-out' | 'untrusted' | 'outdated';

/** The API client used by the pages. One object per window; it outlives connections. */
export interface Api extends Pick<Client, 'call' | 'on'> {
  /** Calls back immediately with the current state, then on every change. */
  onState(handler: (state: ConnectionState) => void): () => void;
}

/** Calls back after every (re)connection, because notices may have been missed. Returns a function that stops it. */
export const onOpen = (api: Api, callback: () => void) =>
  api.onState((state) => {
    if (state === 'open') callback();
  });

/** Returns whether a request failed because the connection was lost. Callers retry after a reconnection. */
export const isConnectionLost = (cause: unknown): boolean =>
  cause instanceof Failure && cause.code === 'connection_lost';
