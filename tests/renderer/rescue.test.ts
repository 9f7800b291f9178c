import { expect, test } from 'vitest';
import type { Alert, AlertAction } from '../../core/contract/contract.ts';
import { RunSeries } from '../../renderer/charts/run-series.ts';
import { costOf } from '../../renderer/pages/run/echo-trap/next-step.tsx';
import { rescueCharts, rescueMarks } from '../../renderer/pages/run/rescue/rescue-charts.ts';
import { type Report, rescueHtml, rescueSvg } from '../../renderer/pages/run/rescue/rescue-file.ts';
import { type Story, storyOf } from '../../renderer/pages/run/rescue/story.ts';
import { runOf } from './summaries.ts';

const action: AlertAction = {
  ...{ id: 'action', time: 5000, changedAt: 30_500, by: 'monitor', kind: 'rollback', state: 'done', alert: 'warned' },
  ...{ checkpoint: 20, fork: 'fork', changes: [{ path: 'optimizer.learning_rate', value: 1e-4 }], message: '' },
};
const warning: Alert = {
  ...{ id: 'warned', kind: 'echo_trap_warning', severity: 'warning', iteration: 30, message: 'Entropy <falls>.' },
  ...{ state: 'raised', raisedAt: 0, changedAt: 0, snoozedUntil: null, level: 'warning', since: 25, regime: null },
  ...{ series: 'rollout/entropy', value: 0.05, baseline: 0.25, advice: [], action },
};
const config = { iterations: 60, optimizer: { learning_rate: 3e-4 } };

/** Returns series whose iterations end one second apart. */
function seriesOf(first: number, last: number, success: (iteration: number) => number): RunSeries {
  const iterations = Array.from({ length: last - first + 1 }, (_, i) => first + i);
  const series = new RunSeries();
  const of = (name: string, value: (iteration: number) => number) => ({
    name,
    iterations,
    values: iterations.map(value),
  });
  const constant = { 'time/iteration': 6, 'rollout/entropy': 0.2, 'evaluation/lake/success_rate': 0.5 };
  const others = Object.entries(constant).map(([name, value]) => of(name, () => value));
  series.load([of('rollout/success_rate', success), ...others], {
    iterations,
    times: iterations.map((iteration) => 1000 * iteration),
  });
  return series;
}

const panels = [{ label: 'lake', hash: '1a2b3c4d5e6f' }];

// The run was resumed after its roll-back at iteration 30, and its success fell.
const before = {
  run: runOf({ id: 'lost', name: 'Lake', iteration: 40, lastAction: action, panels }),
  series: seriesOf(1, 40, (iteration) => (iteration <= 20 ? 0.6 : iteration <= 30 ? 0.3 : 0)),
};
const fork = runOf({ id: 'fork', name: 'Lake, rolled back', status: 'completed', iteration: 60, panels });
const after = { run: fork, series: seriesOf(21, 60, (iteration) => iteration / 100) };

const numbersOf = (story: Story | null) =>
  Object.fromEntries(story!.numbers.map(([name, ...values]) => [name, values]));

test('a rescue has the warning, the roll-back, its cost and the result', () => {
  const story = storyOf(before, config, [warning], after)!;
  expect(story).toMatchObject({ warning, from: 30, checkpoint: 20 });
  expect(Object.fromEntries(story.steps)).toEqual({
    Warning: 'Collapse is near at iteration 30. Entropy <falls>.',
    Action: 'Rolled back automatically from iteration 30 to checkpoint 20.',
    'Changed settings': 'Learning rate 3e-4 → 1e-4.',
    Cost: 'Loses 10 iterations, 1 min 00 s of training.',
    'Continued as': 'Lake, rolled back',
  });
  expect(story.result).toBe(
    'Success ended at 55.5 % after the roll-back, within 10 points of the best before it (60.0 %).',
  );
  expect(numbersOf(story)).toMatchObject({
    Iterations: ['1 to 30', '21 to 60'],
    'Success, last ten iterations': ['30.0 %', '55.5 %'],
    'Success, best ten iterations': ['60.0 %', '55.5 %'],
    'Last evaluation, panel 1a2b3c4d': ['50.0 % at 30', '50.0 % at 60'],
  });
});

test('a rescue reports a worse, an unfinished and a deleted successor', () => {
  const resultOf = (...[series, status]: [RunSeries | null, 'running' | 'completed']) =>
    storyOf(before, config, [], series && { run: { ...fork, status }, series })!.result;
  expect(
    resultOf(
      seriesOf(21, 60, () => 0.35),
      'completed',
    ),
  ).toBe('Success ended at 35.0 % after the roll-back, 25 points below the best before it (60.0 %).');
  expect(
    resultOf(
      seriesOf(21, 25, () => 0.7),
      'running',
    ),
  ).toBe('Success is now 70.0 % after the roll-back, above the best before it (60.0 %).');
  expect(
    resultOf(
      seriesOf(21, 60, () => 0.6),
      'completed',
    ),
  ).toBe('Success ended at 60.0 % after the roll-back, equal to the best before it (60.0 %).');
  expect(resultOf(new RunSeries(), 'running')).toBe('There is no result after iteration 20 yet.');
  expect(resultOf(null, 'completed')).toBe('The run that continued was deleted.');
  expect(storyOf({ ...before, run: runOf() }, config, [], after)).toBeNull();
  expect(storyOf(before, config, [], after)!.note).toContain('was resumed after the roll-back');
  const stopped = { ...before.run, iteration: 30 };
  expect(storyOf({ ...before, run: stopped }, config, [], after)!.note).toContain('was stopped at the roll-back');
});

test('the saved page and picture have both curves, the warning and the numbers, with escaped text', () => {
  const story = storyOf(before, config, [warning], after)!;
  const names = before.series.names();
  const charts = rescueCharts({
    ...{ before: before.series, after: after.series, config, names },
    ...{ evidence: warning.series, baseline: warning.baseline },
  });
  expect(charts.map(({ spec }) => spec.title)).toEqual(['Success', 'Entropy']);
  const view = { zoom: charts[0]!.extent(), smoothing: 0, log: false, ignoreOutliers: false };
  expect(view.zoom).toEqual({ min: 0, max: 60 });
  const report: Report = {
    run: 'Lake & <b>',
    story,
    charts: charts.map(({ references = [], ...chart }) => ({
      ...chart,
      view,
      references,
      marks: rescueMarks(story),
      subtitle: '',
    })),
    color: () => '#102030',
  };
  const { svg, height } = rescueSvg(report);
  const picture = new DOMParser().parseFromString(svg, 'image/svg+xml');
  const page = new DOMParser().parseFromString(rescueHtml(report), 'text/html');
  expect(picture.querySelector('parsererror')).toBeNull();
  expect(Number(picture.documentElement.getAttribute('height'))).toBe(height);
  for (const document of [picture, page]) {
    const text = document.documentElement.textContent!;
    for (const part of [
      'Rescue of Lake & <b>',
      'Entropy <falls>.',
      'Warning at 30',
      'Checkpoint 20',
      story.result,
      '55.5 %',
    ])
      expect(text).toContain(part);
    expect(document.querySelectorAll('g g path, svg > g > path').length).toBeGreaterThanOrEqual(4);
    expect(document.querySelector('script, b, falls')).toBeNull();
    const ids = [...document.querySelectorAll('clipPath')].map(({ id }) => id);
    expect(new Set(ids).size).toBe(2);
  }
});

test('the button of a roll-back states the lost iterations, their time and the changes', () => {
  const rollBack = { kind: 'rollback', notAfter: 24, checkpoint: 20, changes: action.changes } as const;
  const cost = (checkpoint: number | null, seconds: number[]) =>
    costOf({ action: { ...rollBack, checkpoint }, why: '' }, 30, seconds);
  // The median: one slow iteration doesn't change the estimate.
  expect(cost(20, [6, 6, 600, 6, 6])).toBe('Loses 10 iterations, about 1 min; learning rate 1e-4');
  expect(cost(0, [Number.NaN, 2400])).toBe('Loses all 30 iterations, about 20 h; learning rate 1e-4');
  expect(cost(20, [])).toBe('Loses 10 iterations; learning rate 1e-4');
  expect(cost(30, [6])).toBe('Loses no iterations; learning rate 1e-4');
  expect(cost(null, [6])).toBe('The checkpoint is not known yet.');
  expect(costOf({ action: { kind: 'command', command: 'pause' }, why: 'Keeps the run.' }, 30, [6])).toBe(
    'Keeps the run.',
  );
});
