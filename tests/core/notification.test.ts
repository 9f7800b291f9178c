import { expect, test } from 'vitest';
import type { Alert, RunSummary } from '../../core/contract/contract.ts';
import { NotificationFilter } from '../../core/contract/notification.ts';
import { runOf } from '../renderer/summaries.ts';

const run = { id: 'a-run', name: 'FrozenLake a-ru', status: 'running' } as RunSummary;
const alert = (level: Alert['level'], raisedAt: number, more: Partial<Alert> = {}) =>
  ({
    id: `${level} ${raisedAt}`,
    level,
    state: 'raised',
    iteration: 7,
    message: 'Thoughts are alike.',
    raisedAt,
    changedAt: raisedAt,
    ...more,
  }) as Alert;
const titleOf = (alerts: readonly Alert[], filter = new NotificationFilter()) =>
  filter.ofAlerts(run, alerts)?.title ?? null;

test('announces the most severe alert in any order', () => {
  const [watch, warning, collapsing] = [alert('watch', 5000), alert('warning', 5000), alert('collapsing', 5003)];
  for (const alerts of [
    [watch, warning],
    [warning, watch],
    [warning, alert('watch', 5004)],
  ])
    expect(titleOf(alerts)).toBe('Echo Trap: collapse is near');
  expect(titleOf([collapsing, warning, watch])).toBe('Echo Trap: the run is collapsing');
});

test('announces an alert once and ignores later changes', () => {
  const filter = new NotificationFilter();
  const warning = alert('warning', 5000);
  expect(titleOf([warning], filter)).toBe('Echo Trap: collapse is near');
  expect(titleOf([warning], filter)).toBeNull();
  expect(titleOf([warning, alert('watch', 90_000)])).toBeNull();
  expect(titleOf([alert('warning', 5000, { state: 'acknowledged', changedAt: 5400 })])).toBeNull();
  expect(titleOf([alert('watch', 5000)])).toBeNull();
  expect(titleOf([])).toBeNull();
  expect(filter.ofAlerts({ ...run, status: 'completed' }, [alert('collapsed', 6000)])).toBeNull();
});

test('announces an early stop with its rule, but no stop on request', () => {
  const announced = (stopReason: string | null) => {
    const filter = new NotificationFilter();
    filter.ofRun(runOf());
    return filter.ofRun(runOf({ status: 'stopped', stopReason }));
  };
  expect(announced(null)).toBeNull();
  expect(announced('Nothing is learned.')).toMatchObject({
    title: 'Training stopped early',
    body: 'FrozenLake 7, iteration 87 of 200. Nothing is learned.',
  });
});
