import type { Notices } from '../base/notices.ts';
import type { Notice } from '../contract/contract.ts';
import { readAlerts } from '../history/annotations.ts';
import type { HistoryDatabase } from '../history/database.ts';
import { type StoredEvent, storedMeaning, toLogLine } from '../history/queries.ts';

type Point = Notice<'metrics'>['points'][number];

/** Tells clients what a batch of events means for charts, log, list of rollouts and alerts. */
export function publishEvents(
  database: HistoryDatabase,
  notices: Notices,
  runId: string,
  events: readonly StoredEvent[],
): void {
  let points: Point[] = [];
  const flush = () => {
    if (points.length > 0) notices.emit('metrics', { runId, truncateAfter: null, points });
    points = [];
  };
  for (const event of events) {
    const { begins, checkpoint, metrics, memoryPlan, rollout, rolloutRemoved } = storedMeaning(event);
    const line = toLogLine(event);
    if (line) notices.emit('log', { runId, line });
    if (metrics)
      points.push({
        iteration: metrics.iteration,
        metrics: metrics.values,
        ...(event.type === 'iteration' && { time: event.time }),
      });
    if (memoryPlan) notices.emit('memoryPlan', { runId, plan: memoryPlan });
    if (rollout) {
      const { iteration, split, episodes } = rollout;
      notices.emit('rollout', { runId, file: { iteration, split, episodes } });
    }
    if (checkpoint) notices.emit('checkpoints', { runId, written: checkpoint.iteration });
    if (rolloutRemoved) notices.emit('rolloutRemoved', { runId, ...rolloutRemoved });
    if (begins) {
      flush();
      // At once, since it also takes back the rollouts that were told before it, and none of those after.
      notices.emit('metrics', { runId, truncateAfter: begins.after, points: [] });
      notices.emit('alerts', { runId, alerts: readAlerts(database, runId) });
    }
  }
  flush();
}

/** Least time between two notices about nothing but a run's phase, or between two of its monitor's. */
const interval = 250;

/** Tells clients of what changes often, as a run's summary: at once, or together with what else changes until {@link interval} has passed. */
export class Teller {
  private readonly say: () => void;
  private toldAt = 0;
  private timer: NodeJS.Timeout | null = null;

  /** `say`: tells what there is at present. */
  constructor(say: () => void) {
    this.say = say;
  }

  tell(atOnce: boolean): void {
    if (atOnce) this.emit();
    else this.timer ??= setTimeout(() => this.emit(), Math.max(0, this.toldAt + interval - Date.now()));
  }

  close(): void {
    if (this.timer) clearTimeout(this.timer);
    this.timer = null;
  }

  private emit(): void {
    this.close();
    this.toldAt = Date.now();
    this.say();
  }
}
