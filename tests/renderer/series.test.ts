// @vitest-environment node
import { describe, expect, test } from 'vitest';
import type { Series } from '../../core/contract/contract.ts';
import { byIteration } from '../../renderer/charts/axes.ts';
import { chartSpecs } from '../../renderer/charts/chart-specs.ts';
import { describeChart } from '../../renderer/charts/chart-text.ts';
import { columnsOf, indexAt, layOut, nearestAt } from '../../renderer/charts/layout.ts';
import { MetricSeries } from '../../renderer/charts/metric-series.ts';
import { RunSeries } from '../../renderer/charts/run-series.ts';
import { sparkline } from '../../renderer/charts/sparkline.ts';
import type { Trace } from '../../renderer/charts/traces.ts';

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
  test('take new points, and drop those after the checkpoint on resume', () => {
    const run = new RunSeries();
    let received = 0;
    run.subscribe(() => received++);
    run.load([{ name: 'a', iterations: [1, 2, 3], values: [1, 2, 3] }]);
    run.apply({ truncateAfter: null, points: [{ iteration: 4, metrics: { a: 4, b: 40 } }] });
    run.apply({ truncateAfter: 2, points: [{ iteration: 3, metrics: { a: 33 } }] });
    expect(pointsOf(run.get('a'))).toEqual([
      [1, 1],
      [2, 2],
      [3, 33],
    ]);
    expect(run.get('b')?.length).toBe(0);
    expect(received).toBe(3);
  });

  test('are replaced when reloaded', () => {
    const run = new RunSeries();
    run.load([{ name: 'a', iterations: [1], values: [1] }]);
    run.load([{ name: 'b', iterations: [2], values: [2] }]);
    expect(run.names()).toEqual(['b']);
  });
});

describe('a series with buckets', () => {
  /** Points 1, 0, 1, 0, ... with a spike of 9 at iteration 37, in buckets of `step` iterations. */
  const valueAt = (iteration: number) => (iteration === 37 ? 9 : iteration % 2);
  const stretches = (from: number, to: number, step: number): Series => {
    const ends = Array.from({ length: (to - from) / step }, (_, index) => from + step * (index + 1));
    const of = ends.map((end) => Array.from({ length: step }, (_, index) => valueAt(end - index)));
    return {
      name: 'a',
      iterations: ends,
      values: of.map((values) => values.reduce((sum, value) => sum + value, 0) / step),
      buckets: {
        min: of.map((values) => Math.min(...values)),
        max: of.map((values) => Math.max(...values)),
        counts: of.map((values) => values.length),
      },
    };
  };

  test('requests finer data once, replaces the coarse data and appends new points', async () => {
    const run = new RunSeries();
    const requests: unknown[] = [];
    run.load([stretches(0, 100, 10)], undefined, async (...args) => {
      requests.push(args);
      return [stretches(30, 50, 1)];
    });
    const come = new Promise<void>((resolve) => {
      run.subscribe(resolve);
    });
    for (let times = 0; times < 3; times++) run.refine('a', 30, 50, 100);
    await come;
    expect(requests).toEqual([['a', 30, 50, 200]]);
    const made = run.get('a')!;
    expect([...made.counts()!]).toEqual([...Array(3).fill(10), ...Array(20).fill(1), ...Array(5).fill(10)]);
    expect([made.at(37), made.at(38), made.at(30)]).toEqual([9, 0, 0.5]);
    // Already part of a bucket.
    run.apply({ truncateAfter: null, points: [{ iteration: 95, metrics: { a: 50 } }] });
    run.apply({ truncateAfter: null, points: [{ iteration: 101, metrics: { a: 5 } }] });
    expect(made.newest()).toEqual({ iteration: 101, value: 5 });
    expect([made.length, made.max().at(-2), made.counts()!.at(-1)]).toEqual([29, 1, 1]);
    run.apply({ truncateAfter: 95, points: [] });
    expect(made.newest()?.iteration).toBe(90);
  });

  test("is smoothed as if each point had the bucket's mean", () => {
    const coarse = new MetricSeries();
    coarse.replace(stretches(0, 20, 10));
    const points = series(Array.from({ length: 20 }, (_, index) => [index + 1, 0.5]));
    expect(coarse.smoothed(0.9).at(-1)).toBeCloseTo(points.smoothed(0.9).at(-1)!, 12);
  });

  test('keeps spikes on a chart, and reports ranges that are too coarse', () => {
    const run = new RunSeries();
    run.load([stretches(0, 100, 10)]);
    const trace: Trace = {
      ...{ id: 'a', label: 'a', source: run, metric: 'a', positions: byIteration, color: 'chart-ink' },
    };
    for (const smoothing of [0, 0.9]) {
      const { values, dense, coarse } = layOut(columnsOf(trace, smoothing > 0), {
        ...{ zoom: { min: 30, max: 60 }, smoothing, log: false, width: 100 },
      });
      expect(dense).toBe(true);
      expect(Math.max(...values[0]!.filter((value) => value !== undefined))).toBe(9);
      expect(coarse).toMatchObject([{ after: 10, upTo: 70 }]);
    }
    const spec = { ...chartSpecs([])[1]!, title: 'A' };
    expect(describeChart(spec, [trace])).toContain('highest 9.00');
    const bound = { source: run, metric: 'a' };
    const banded = { ...trace, sparse: true, band: { title: 'lowest to highest run', low: bound, high: bound } };
    expect(describeChart(spec, [banded])).toMatch(/\(lowest to highest run: [\d.]+ to [\d.]+\) at iteration/);
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

  test('stays correct when points are added, replaced, dropped or inserted', () => {
    const made = series(Array.from({ length: 200 }, (_, iteration) => [iteration, Math.sin(iteration)]));
    const recomputed = () => [...series(pointsOf(made)).smoothed(0.9)];
    const same = () => expect([...made.smoothed(0.9)]).toEqual(recomputed().map((value) => expect.closeTo(value, 9)));
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
])('at %f the positions 0, 2, 4 are at index %i, the nearest is %i', (position, index, nearest) => {
  expect(indexAt([0, 2, 4], position)).toBe(index);
  expect(nearestAt([0, 2, 4], position)).toBe(nearest);
});

test('with two environments, success has a line per environment in the color of its evaluation; custom labels are kept', () => {
  const names = ['lake', 'bandit'].flatMap((label) => [
    `rollout/${label}/success_rate`,
    `evaluation/${label}/success_rate`,
  ]);
  const lines = chartSpecs(['rollout/success_rate', ...names])[0]!.lines;
  expect(lines.map(({ metric, label, color }) => [metric, label, color])).toEqual([
    ['evaluation/bandit/success_rate', 'Bandit', 'chart-1'],
    ['evaluation/lake/success_rate', 'lake', 'chart-3'],
    ['rollout/bandit/success_rate', 'Bandit rollout', 'chart-1'],
    ['rollout/lake/success_rate', 'lake rollout', 'chart-3'],
  ]);
});

test('reward std by action is charted if present, without an empty entry otherwise', () => {
  const labelsOf = (names: string[]) =>
    chartSpecs(names)
      .find(({ id }) => id === 'reward-std')!
      .lines.map(({ label }) => label);
  expect(labelsOf([])).toEqual(['reward std', 'zero-variance groups']);
  expect(labelsOf(['rollout/reward_std_by_action'])).toEqual(['reward std', 'by action', 'zero-variance groups']);
});

describe('a sparkline', () => {
  const iterations = Array.from({ length: 1000 }, (_, index) => index + 1);

  test('is thinned, but keeps its last point and spikes', () => {
    const values = iterations.map((iteration) => (iteration === 613 ? 9 : 1));
    const { points, at } = sparkline(iterations, values, [], 50);
    expect(points.length).toBeLessThanOrEqual(50);
    expect(points.at(-1)!.x).toBe(1);
    const top = points.toSorted((a, b) => a.y - b.y)[0]!;
    expect(top.x).toBe(at(613));
    expect(points.map(({ x }) => x)).toEqual(points.map(({ x }) => x).sort((a, b) => a - b));
  });

  test('includes levels beyond its values, and ignores unknown ones', () => {
    const { points, levels } = sparkline([1, 2, 3], [1, 2, 1.5], [4, null]);
    expect(levels[1]).toBeNull();
    for (const { y } of points) expect(y).toBeGreaterThan(levels[0]!);
    expect(Math.max(...points.map(({ y }) => y))).toBeLessThan(1);
  });

  test('draws only finite values, and keeps a constant within its frame', () => {
    const { points } = sparkline([1, 2, 3, 4], [5, Number.NaN, 5, Number.POSITIVE_INFINITY]);
    expect(points).toHaveLength(2);
    for (const { y } of points) expect(y > 0 && y < 1).toBe(true);
    expect(sparkline([], []).points).toEqual([]);
  });
});
