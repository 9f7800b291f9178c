import type { Notice } from '../api/contract.ts';
import { type StoredEvent, toLogLine } from '../history/queries.ts';
import type { Notices } from '../notices.ts';

type Point = Notice<'metrics'>['points'][number];

/** Tells clients what a batch of events means for charts, log and list of rollouts. */
export function publishEvents(notices: Notices, runId: string, events: readonly StoredEvent[]): void {
  let truncateAfter: number | null = null;
  let points: Point[] = [];
  const flush = () => {
    if (points.length > 0 || truncateAfter !== null)
      notices.emit('metrics', { runId, truncateAfter, points });
    truncateAfter = null;
    points = [];
  };
  for (const event of events) {
    const line = toLogLine(event);
    if (line) notices.emit('log', { runId, line });
    if (event.type === 'iteration' || event.type === 'evaluation') {
      const { iteration, metrics } = JSON.parse(event.body);
      points.push({ iteration, metrics });
    } else if (event.type === 'rollout') {
      const { iteration, split, episodes } = JSON.parse(event.body);
      notices.emit('rollout', { runId, file: { iteration, split, episodes } });
    } else if (event.type === 'started') {
      const { resume } = JSON.parse(event.body);
      flush();
      truncateAfter = resume?.iteration ?? -1;
    }
  }
  flush();
}
