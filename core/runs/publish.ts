import type { Notice } from '../contract/contract.ts';
import { type StoredEvent, toLogLine } from '../history/queries.ts';
import type { Notices } from '../notices.ts';

type Point = Notice<'metrics'>['points'][number];

/** Tells clients what a batch of events means for charts, log and list of rollouts. */
export function publishEvents(notices: Notices, runId: string, events: readonly StoredEvent[]): void {
  let points: Point[] = [];
  const flush = () => {
    if (points.length > 0) notices.emit('metrics', { runId, truncateAfter: null, points });
    points = [];
  };
  for (const event of events) {
    const line = toLogLine(event);
    if (line) notices.emit('log', { runId, line });
    if (event.type === 'iteration' || event.type === 'evaluation') {
      const { iteration, metrics } = JSON.parse(event.body);
      points.push({ iteration, metrics });
    } else if (event.type === 'memory_plan') {
      notices.emit('memoryPlan', { runId, plan: JSON.parse(event.body) });
    } else if (event.type === 'rollout') {
      const { iteration, split, episodes } = JSON.parse(event.body);
      notices.emit('rollout', { runId, file: { iteration, split, episodes } });
    } else if (event.type === 'rollout_removed') {
      const { iteration, split } = JSON.parse(event.body);
      notices.emit('rolloutRemoved', { runId, iteration, split });
    } else if (event.type === 'started') {
      const { resume } = JSON.parse(event.body);
      flush();
      // At once, since it also takes back the rollouts that were told before it, and none of those after.
      notices.emit('metrics', { runId, truncateAfter: resume?.iteration ?? -1, points: [] });
    }
  }
  flush();
}
