import { useApp } from '../stores/app-store.ts';

/** Confirms that a run, or several runs, were queued, with a link to the queue. */
export function notifyQueued(what: string, verb: 'was' | 'were' = 'was'): void {
  useApp.getState().notify(`${what} ${verb} added to the queue.`, { label: 'Open queue', route: { page: 'queue' } });
}
