import type { Notices } from '../base/notices.ts';
import type { Notice } from '../contract/contract.ts';
import type { RunEvent } from './run-events.ts';

type Point = Notice<'metrics'>['points'][number];

interface PublishParts {
  notices: Notices;
  alerts: { publish(): void };
}

/** Publishes the notices that a batch of events causes. */
export function publishEvents({ notices, alerts }: PublishParts, runId: string, events: readonly RunEvent[]): void {
  let points: Point[] = [];
  const flush = () => {
    if (points.length > 0) notices.emit('metrics', { runId, truncateAfter: null, points });
    points = [];
  };
  for (const { seq, time, type, meaning } of events) {
    const { begins, checkpoint, line, firstStepCheck, metrics, memoryPlan, rollout, rolloutRemoved } = meaning;
    if (line) notices.emit('log', { runId, line: { seq, time, ...line } });
    if (metrics)
      points.push({
        iteration: metrics.iteration,
        metrics: metrics.values,
        ...(type === 'iteration' && { time }),
      });
    if (memoryPlan) notices.emit('memoryPlan', { runId, plan: memoryPlan });
    if (firstStepCheck) notices.emit('firstStepCheck', { runId, check: firstStepCheck });
    if (rollout) {
      const { iteration, split, episodes } = rollout;
      notices.emit('rollout', { runId, file: { iteration, split, episodes } });
    }
    if (checkpoint) notices.emit('checkpoints', { runId, written: checkpoint.iteration });
    if (rolloutRemoved) notices.emit('rolloutRemoved', { runId, ...rolloutRemoved });
    if (begins) {
      flush();
      // Published immediately, because it drops only the rollouts published before it.
      notices.emit('metrics', { runId, truncateAfter: begins.after, points: [] });
      alerts.publish();
    }
  }
  flush();
}
