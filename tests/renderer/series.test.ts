import { describe, expect, test } from 'vitest';
import { chartSpecs } from '../../renderer/charts/chart-specs.ts';
import { indexAt, nearestAt } from '../../renderer/charts/layout.ts';
import { MetricSeries } from '../../renderer/charts/metric-series.ts';
import { RunSeries } from '../../renderer/charts/run-series.ts';
import { spark } from '../../renderer/charts/sparkline.ts';

function series(points: [number, number][]): MetricSeries {
  const made = new MetricSeries();
  for (const [iteration, value] of points) made.put(iteration, value);
  return made;
}

function pointsOf(made: MetricSeries | undefined): [number, number][] {
  const values = [...(made?.values() ?? [])];
  return [...(made?.iterations() ?? [])].map((iteration, index) => [iteration, values[index]!]);
}

describe('a series', () => {
  test('appends, replaces and inserts', () => {
    const made = series([
      [1, 10],
      [2, 20],
      [5, 50],
      [2, 21],
      [3, 30],
      [0, 0],
    ]);
    expect(pointsOf(made)).toEqual([
      [0, 0],
      [1, 10],
      [2, 21],
      [3, 30],
      [5, 50],
    ]);
    expect(made.newest()).toEqual({ iteration: 5, value: 50 });
    expect(made.at(3)).toBe(30);
    expect(made.at(4)).toBeUndefined();
  });

  test('keeps all points while it grows', () => {
    const count = 1000;
    const made = series(Array.from({ length: count }, (_, iteration) => [iteration, -iteration]));
    expect(made.length).toBe(count);
    expect(pointsOf(made)).toEqual(Array.from({ length: count }, (_, iteration) => [iteration, -iteration]));
  });

  test.each([
    [9, 3],
    [5, 3],
    [4, 2],
    [1, 1],
    [0, 0],
    [-1, 0],
  ])('cut after %i keeps %i of three points', (after, kept) => {
    const made = series([
      [1, 1],
      [3, 3],
      [5, 5],
    ]);
    made.truncateAfter(after);
    expect(made.length).toBe(kept);
    made.put(7, 7);
    expect(made.newest()).toEqual({ iteration: 7, value: 7 });
    expect(made.length).toBe(kept + 1);
  });

  test('is empty at first', () => {
    expect(new MetricSeries().newest()).toBeNull();
  });
});

describe('the series of a run', () => {
  test('take new points, and drop those after the checkpoint that a run was resumed from', () => {
    const run = new RunSeries();
    let heard = 0;
    run.subscribe(() => heard++);
    run.load([{ name: 'a', iterations: [1, 2, 3], values: [1, 2, 3] }]);
    run.apply({ truncateAfter: null, points: [{ iteration: 4, metrics: { a: 4, b: 40 } }] });
    run.apply({ truncateAfter: 2, points: [{ iteration: 3, metrics: { a: 33 } }] });
    expect(pointsOf(run.get('a'))).toEqual([
      [1, 1],
      [2, 2],
      [3, 33],
    ]);
    expect(run.get('b')?.length).toBe(0);
    expect(heard).toBe(3);
  });

  test('loaded again are replaced as a whole', () => {
    const run = new RunSeries();
    run.load([{ name: 'a', iterations: [1], values: [1] }]);
    run.load([{ name: 'b', iterations: [2], values: [2] }]);
    expect(run.names()).toEqual(['b']);
  });
});

describe('the moving average', () => {
  test('keeps a constant, and starts at the first value', () => {
    const constant = series([1, 2, 3].map((iteration) => [iteration, 3]));
    expect([...constant.smoothed(0.7)]).toEqual([3, 3, 3].map((value) => expect.closeTo(value, 12)));
    const [first, second] = series([
      [1, 1],
      [2, 0],
    ]).smoothed(0.5);
    expect(first).toBe(1);
    // (0.25 * 1 + 0.5 * 0) / (1 - 0.25)
    expect(second).toBeCloseTo(1 / 3, 12);
  });

  test('goes on as points come, are replaced, are dropped and come late, as if made anew', () => {
    const made = series(Array.from({ length: 200 }, (_, iteration) => [iteration, Math.sin(iteration)]));
    const anew = () => [...series(pointsOf(made)).smoothed(0.9)];
    const same = () =>
      expect([...made.smoothed(0.9)]).toEqual(anew().map((value) => expect.closeTo(value, 9)));
    same();
    made.put(200, 4);
    same();
    made.put(90, -3);
    same();
    made.truncateAfter(120);
    made.put(500, 2);
    same();
    made.put(300, 1);
    same();
    expect([...made.smoothed(0)]).toEqual([...made.values()]);
  });
});

test.each([
  [-1, -1, 0],
  [0, 0, 0],
  [1, 0, 0],
  [2, 1, 1],
  [3.5, 1, 2],
  [9, 2, 2],
])('at %f the places 0, 2, 4 are at index %i, the nearest is %i', (place, index, nearest) => {
  expect(indexAt([0, 2, 4], place)).toBe(index);
  expect(nearestAt([0, 2, 4], place)).toBe(nearest);
});

test('where two environments are trained, success has a line for each and its evaluations, in one colour', () => {
  const names = ['lake', 'bandit'].flatMap((label) => [
    `rollout/${label}/success_rate`,
    `evaluation/${label}/success_rate`,
  ]);
  const lines = chartSpecs(['rollout/success_rate', ...names])[0]!.lines;
  expect(lines.map(({ metric, label, color }) => [metric, label, color])).toEqual([
    ['evaluation/bandit/success_rate', 'bandit', 'chart-1'],
    ['evaluation/lake/success_rate', 'lake', 'chart-3'],
    ['rollout/bandit/success_rate', 'bandit rollout', 'chart-1'],
    ['rollout/lake/success_rate', 'lake rollout', 'chart-3'],
  ]);
});

test('the spread by choice is charted where there is one, and no empty entry where there is none', () => {
  const labelsOf = (names: string[]) =>
    chartSpecs(names)
      .find(({ id }) => id === 'reward-std')!
      .lines.map(({ label }) => label);
  expect(labelsOf([])).toEqual(['spread', 'groups without spread']);
  expect(labelsOf(['rollout/reward_std_by_action'])).toEqual([
    'spread',
    'by choice',
    'groups without spread',
  ]);
});

describe('a sparkline', () => {
  const iterations = Array.from({ length: 1000 }, (_, index) => index + 1);

  test('is thinned, and keeps its ends and a spike of one iteration', () => {
    const values = iterations.map((iteration) => (iteration === 613 ? 9 : 1));
    const { points, at } = spark(iterations, values, [], 50);
    expect(points.length).toBeLessThanOrEqual(50);
    expect(points.at(-1)!.x).toBe(1);
    const top = points.toSorted((a, b) => a.y - b.y)[0]!;
    expect(top.x).toBe(at(613));
    expect(points.map(({ x }) => x)).toEqual(points.map(({ x }) => x).sort((a, b) => a - b));
  });

  test('leaves room for a level beyond its values, and knows none that is not known', () => {
    const { points, levels } = spark([1, 2, 3], [1, 2, 1.5], [4, null]);
    expect(levels[1]).toBeNull();
    for (const { y } of points) expect(y).toBeGreaterThan(levels[0]!);
    expect(Math.max(...points.map(({ y }) => y))).toBeLessThan(1);
  });

  test('draws what is finite alone, and a constant within its frame', () => {
    const { points } = spark([1, 2, 3, 4], [5, Number.NaN, 5, Number.POSITIVE_INFINITY]);
    expect(points).toHaveLength(2);
    for (const { y } of points) expect(y > 0 && y < 1).toBe(true);
    expect(spark([], []).points).toEqual([]);
  });
});
