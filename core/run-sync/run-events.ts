import type { RunSummary } from '../contract/contract.ts';
import type { StoredEvent } from '../history/queries.ts';
import type { Meaning } from '../run-directory/meaning.ts';

/** A journal event with its meaning, so that each body is parsed once. */
export type RunEvent = Omit<StoredEvent, 'body'> & { meaning: Meaning };

/** Events of followed runs for the services of this process. Clients receive notices instead. */
export interface RunEvents {
  /** New events of a run's journal, in order. */
  journal: { runId: string; events: readonly RunEvent[] };
  summary: RunSummary;
  /** The alerts of a run may have changed. */
  alerts: { runId: string };
  /** The folder of a run was deleted or replaced. */
  removed: { runId: string };
}
