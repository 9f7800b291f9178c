import type { Notices } from '../base/notices.ts';
import type { Notice } from '../contract/contract.ts';
import { readAlerts } from '../history/annotations.ts';
import type { HistoryDatabase } from '../history/database.ts';
import { type StoredEvent, storedMeaning, toLogLine } from '../history/queries.ts';

type Point = Notice<'metrics'>['points'][number];

/** Publishes the notices that a batch of events causes: series, log, rollouts and alerts. */
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
      // Immediately, since it drops the rollouts published before it, but none after.
      notices.emit('metrics', { runId, truncateAfter: begins.after, points: [] });
      notices.emit('alerts', { runId, alerts: readAlerts(database, runId) });
    }
  }
  flush();
}

/** Minimum time in ms between two phase notices, or two monitor notices, of a run. */
const interval = 250;

/** Throttles frequent notices: publishes immediately, or at most once per {@link interval}. */
export class Throttle {
  private readonly action: () => void;
  private publishedAt = 0;
  private timer: NodeJS.Timeout | null = null;

  constructor(action: () => void) {
    this.action = action;
  }

  publish({ immediate }: { immediate: boolean }): void {
    if (immediate) this.emit();
    else this.timer ??= setTimeout(() => this.emit(), Math.max(0, this.publishedAt + interval - Date.now()));
  }

  close(): void {
    if (this.timer) clearTimeout(this.timer);
    this.timer = null;
  }

  private emit(): void {
    this.close();
    this.publishedAt = Date.now();
    this.action();
  }
}
