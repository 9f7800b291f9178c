import { expect, test } from 'vitest';
import type { Alert, RunSummary } from '../../core/contract/contract.ts';
import { NotificationFilter } from '../../core/contract/notification.ts';

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
const told = (alerts: readonly Alert[], filter = new NotificationFilter()) =>
  filter.ofAlerts(run, alerts)?.title ?? null;

test('an alarm is told of whatever else was found with it, in whatever order', () => {
  const [watch, warning, collapsing] = [
    alert('watch', 5000),
    alert('warning', 5000),
    alert('collapsing', 5003),
  ];
  for (const alerts of [
    [watch, warning],
    [warning, watch],
    [warning, alert('watch', 5004)],
  ])
    expect(told(alerts)).toBe('Echo Trap: warning');
  expect(told([collapsing, warning, watch])).toBe('Echo Trap: the run is collapsing');
});

test('once, and not when something else changes later', () => {
  const filter = new NotificationFilter();
  const warning = alert('warning', 5000);
  expect(told([warning], filter)).toBe('Echo Trap: warning');
  expect(told([warning], filter)).toBeNull();
  expect(told([warning, alert('watch', 90_000)])).toBeNull();
  expect(told([alert('warning', 5000, { state: 'acknowledged', changedAt: 5400 })])).toBeNull();
  expect(told([alert('watch', 5000)])).toBeNull();
  expect(told([])).toBeNull();
  expect(filter.ofAlerts({ ...run, status: 'completed' }, [alert('collapsed', 6000)])).toBeNull();
});
