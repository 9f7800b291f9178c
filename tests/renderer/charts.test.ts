import { parse } from 'csv-parse/sync';
import type uPlot from 'uplot';
import { describe, expect, test } from 'vitest';
import { leavesOf } from '../../core/contract/run-details.ts';
import { metricFacts } from '../../core/facts/metric-facts.ts';
import { metricNames } from '../../core/run-directory/metrics.ts';
import { byIteration, positionsOn, shapeOf } from '../../renderer/charts/axes.ts';
import { type ChartSpec, chartSpecs } from '../../renderer/charts/chart-specs.ts';
import { clockTick, clockTicks } from '../../renderer/charts/clock.ts';
import { isConstant } from '../../renderer/charts/constant.ts';
import { drawReferenceLabels } from '../../renderer/charts/draw-references.ts';
import { cell, toCsv } from '../../renderer/charts/export-chart.ts';
import { GroupSeries } from '../../renderer/charts/group-series.ts';
import { columnsOf, columnsOfAll, layOut } from '../../renderer/charts/layout.ts';
import { compareSpecs, metricSections } from '../../renderer/charts/metric-sections.ts';
import { MetricSeries } from '../../renderer/charts/metric-series.ts';
import { withPanels } from '../../renderer/charts/panels.ts';
import { sharedReferences, successReferences } from '../../renderer/charts/references.ts';
import { RunSeries } from '../../renderer/charts/run-series.ts';
import { logTicks, niceTicks, positionTicks, tickText, tickTexts, valueRange } from '../../renderer/charts/scale.ts';
import { extentOf, positionsOf } from '../../renderer/charts/subjects.ts';
import { type Picture, toSvg } from '../../renderer/charts/svg.ts';
import { tipAt } from '../../renderer/charts/tooltip.ts';
import type { Trace } from '../../renderer/charts/traces.ts';
import { searchFor } from '../../renderer/charts/use-search.ts';
import { differences, groupBy, groupingChoices } from '../../renderer/run-table/differences.ts';
import { PathIndex } from '../../renderer/run-table/settings.ts';

function source(metrics: Record<string, [iteration: number, value: number][]>): RunSeries {
  const series = new RunSeries();
  series.load(
    Object.entries(metrics).map(([name, points]) => ({
      name,
      iterations: points.map(([iteration]) => iteration),
      values: points.map(([, value]) => value),
    })),
  );
  return series;
}

const traceOf = (of: RunSeries, metric: string, more: Partial<Trace> = {}): Trace => ({
  id: metric,
  label: metric,
  source: of,
  metric,
  positions: byIteration,
  color: 'chart-ink',
  ...more,
});

const spec: ChartSpec = { id: 'a', title: 'A', unit: '', format: (value) => value.toFixed(1), lines: [] };

describe('a layout', () => {
  const wide = { smoothing: 0, log: false, width: 400 };

  test('aligns series of different iterations, with gaps undefined', () => {
    const run = source({ evaluation: [[0, 0.4], [2, 0.5]], rollout: [[1, 1], [2, 2]] }); // biome-ignore format: pairs
    const columns = ['evaluation', 'rollout', 'missing'].flatMap((name) => columnsOf(traceOf(run, name), false));
    expect(layOut(columns, { ...wide, zoom: { min: 0, max: 2 } })).toEqual({
      x: [0, 1, 2],
      values: [
        [0.4, undefined, 0.5],
        [undefined, 1, 2],
        [undefined, undefined, undefined],
      ],
      dense: false,
      coarse: [],
    });
  });

  test('keeps every spike of a million points, and shows single points when zoomed', () => {
    const count = 1_000_000;
    const spikes = [0, 1, 333_333, 777_777, count - 1];
    const run = source({});
    run.load([
      {
        name: 'a',
        iterations: Array.from({ length: count }, (_, index) => index),
        values: Array.from({ length: count }, (_, index) => (spikes.includes(index) ? 9 : Math.sin(index))),
      },
    ]);
    for (const smoothing of [0, 0.9]) {
      const columns = columnsOf(traceOf(run, 'a'), smoothing > 0);
      const whole = layOut(columns, { ...wide, smoothing, zoom: { min: 0, max: count - 1 } });
      expect(whole.dense).toBe(true);
      expect(whole.x.length).toBeLessThanOrEqual(2 * wide.width);
      expect([...whole.x].sort((a, b) => a - b)).toEqual(whole.x);
      const top = whole.values[0]!;
      const spikePositions = whole.x.filter((_, index) => top[index] === 9);
      for (const spike of spikes)
        expect(Math.min(...spikePositions.map((position) => Math.abs(position - spike)))).toBeLessThan(
          count / wide.width,
        );
    }
    const near = layOut(columnsOf(traceOf(run, 'a'), false), {
      ...wide,
      zoom: { min: 333_300, max: 333_400 },
    });
    expect(near.dense).toBe(false);
    // One more on either side, so that lines reach the edge.
    expect(near.x).toEqual(Array.from({ length: 103 }, (_, index) => 333_299 + index));
    expect(near.values[0]![near.x.indexOf(333_333)]).toBe(9);
  });

  test('draws raw values behind few lines, and hides them for many', () => {
    const run = source({ a: [[1, 1], [2, 2]] }); // biome-ignore format: pairs
    const lines = (count: number) =>
      columnsOfAll(Array(count).fill(traceOf(run, 'a')), true).filter(({ role }) => role === 'raw-low').length;
    expect([lines(12), lines(13)]).toEqual([12, 0]);
  });

  test('keeps a sparse line beside a dense one, including points beyond the edges', () => {
    const many = Array.from({ length: 5000 }, (_, index): [number, number] => [index, index % 7]);
    const run = source({ many, few: [[0, 1], [2500, 2], [4999, 3]] }); // biome-ignore format: pairs
    const columns = [
      ...columnsOf(traceOf(run, 'many'), false),
      ...columnsOf(traceOf(run, 'few', { sparse: true }), true),
    ];
    const { x, values, dense } = layOut(columns, { ...wide, zoom: { min: 1000, max: 4000 } });
    expect(dense).toBe(true);
    expect(values[1]!.filter((value) => value !== undefined)).toEqual([1, 2, 3]);
    expect([x[0], x.at(-1)]).toEqual([0, 4999]);
  });

  test('puts every point into a bucket, even if edges round to points', () => {
    const points = Array.from({ length: 400 }, (_, index): [number, number] => [index, index + 1]);
    const columns = columnsOf(traceOf(source({ a: points }), 'a'), false);
    let dense = 0;
    for (let min = 0; min < 40; min++)
      for (let max = min; max < 400; max += 17)
        for (const width of [0, 5, 20, 37, 50]) {
          const laid = layOut(columns, { ...wide, width, zoom: { min, max } });
          const visible = laid.values[0]!.filter((value) => value !== undefined);
          // Each bucket has the minimum and maximum.
          expect([Math.min(...visible), Math.max(...visible)]).toEqual([Math.max(1, min), Math.min(400, max + 2)]);
          dense += Number(laid.dense);
        }
    expect(dense).toBeGreaterThan(1000);
  });

  test('leaves out values without a logarithm on a logarithmic scale', () => {
    const run = source({ a: [[1, 100], [2, 0], [3, -5], [4, 0.1]] }); // biome-ignore format: pairs
    const { values } = layOut(columnsOf(traceOf(run, 'a'), false), {
      ...wide,
      log: true,
      zoom: { min: 1, max: 4 },
    });
    expect(values[0]).toEqual([2, undefined, undefined, expect.closeTo(-1, 12)]);
  });
});

describe('the y-axis range', () => {
  const values = Array.from({ length: 200 }, (_, index) => (index === 50 ? 1000 : index / 200));
  const layout = { x: values.map((_, index) => index), values: [values], dense: false, coarse: [] };
  const columns = columnsOf(traceOf(source({}), 'a'), false);
  const zoom = { min: 0, max: 200 };
  const range = (options: object, of: object = {}, also: number[] = []) =>
    valueRange(layout, columns, { ...of }, { log: false, ignoreOutliers: false, ...options }, zoom, also);

  test('shows every value, can ignore outliers, and includes references', () => {
    expect(range({})[1]).toBeGreaterThan(1000);
    expect(range({ ignoreOutliers: true })[1]).toBeLessThan(2);
    expect(range({ ignoreOutliers: true }, {}, [5])[1]).toBeGreaterThan(5);
    expect(range({}, { low: 0, high: 1 })).toEqual([0, 1]);
  });

  test('uses only visible values', () => {
    const view = { log: false, ignoreOutliers: false };
    expect(valueRange(layout, columns, {}, view, { min: 60, max: 200 })[1]).toBeLessThan(2);
  });

  test('has margins around a constant that smoothing has rounded', () => {
    const alike = { ...layout, x: [1, 2], values: [[Math.log(4), Math.log(4) * (1 + 2 ** -52)]] };
    const view = { log: false, ignoreOutliers: false };
    const [low, high] = valueRange(alike, columns, {}, view, zoom);
    expect(low).toBeLessThan(1.3);
    expect(high).toBeGreaterThan(1.4);
  });

  test('adds digits if ticks would have equal labels', () => {
    const three = { format: (value: number) => value.toFixed(3) };
    expect(tickTexts(three, [0.001, 0.0012, 0.0014], false)).toEqual(['0.001', '0.0012', '0.0014']);
    const share = { format: (value: number) => `${(value * 100).toFixed(1)} %` };
    expect(tickTexts(share, [0, 0.0002, 0.0004], false)).toEqual(['0 %', '0.02 %', '0.04 %']);
    expect(tickTexts(share, [0, 0.5], false)).toEqual(['0 %', '50 %']);
    expect(tickTexts(share, [0.4, 0.400001, 0.400002], false)).toEqual(['40 %', '40.0001 %', '40.0002 %']);
  });

  test('durations have short ticks, which the axis has space for', () => {
    const [spec] = metricSections(['time/iteration'])[0]!.charts;
    expect(tickTexts(spec!, [0, 60, 120], false)).toEqual(['0 s', '60 s', '120 s']);
    expect(spec!.format(60)).toBe('1 min 00 s');
  });

  test('a chart is constant if its lines have the same value in ten iterations', () => {
    const valuesOf = (...values: number[]) => {
      const series = new MetricSeries();
      for (const [index, value] of values.entries()) series.put(index + 1, value);
      return series;
    };
    const isConstantWith = (...all: MetricSeries[]) =>
      isConstant({ traces: all.map((series) => ({ source: { get: () => series }, metric: 'm' })) as never });
    const ones = Array.from({ length: 10 }, () => 1);
    expect(isConstantWith(valuesOf(...ones))).toBe(true);
    expect(isConstantWith(valuesOf(...ones), valuesOf(...ones))).toBe(true);
    expect(isConstantWith(valuesOf(...ones.slice(1)))).toBe(false);
    expect(isConstantWith(valuesOf(...ones, 2))).toBe(false);
    expect(isConstantWith(valuesOf(...ones), valuesOf(...ones.map(() => 2)))).toBe(false);
    expect(isConstantWith()).toBe(false);
  });

  test.each([
    [0, 1, 5, [0, 0.2, 0.4, 0.6, 0.8, 1]],
    [-3, 7, 4, [0, 5]],
    [0.31, 0.36, 4, [0.32, 0.34, 0.36]],
  ])('from %f to %f has round ticks', (low, high, count, ticks) => {
    expect(niceTicks(low, high, count)).toEqual(ticks);
  });

  test('has ticks at powers of ten, whole iterations and round times', () => {
    expect(logTicks(-3, 2, 6)).toEqual([-3, -2, -1, 0, 1, 2]);
    expect(logTicks(Math.log10(3), Math.log10(30), 4).map((value) => Math.round(10 ** value))).toEqual([5, 10, 20]);
    expect(positionTicks('iteration', 0, 3, 8)).toEqual([0, 1, 2, 3]);
    expect(positionTicks('time', 0, 7200, 4)).toEqual([0, 1800, 3600, 5400, 7200]);
    const share = { format: (value: number) => `${(value * 100).toFixed(1)} %` };
    expect([0, 0.2, 0.005].map((value) => tickText(share, value, false))).toEqual(['0 %', '20 %', '0.5 %']);
  });
});

test('an axis can count episodes, tokens and updates', () => {
  const run = source({
    'rollout/reward_mean': [[1, 0], [2, 0], [3, 0]],
    'rollout/response_tokens': [[1, 10], [2, 20], [3, 30]],
    'filter/kept_groups': [[1, 8], [2, 4], [3, 3]],
    'actor/grad_norm': [[2, 1], [3, 1]],
    'time/iteration': [[1, 5], [2, 6], [3, 7]],
    'evaluation/lake/success_rate': [[0, 0.3], [2, 0.5]],
  }); // biome-ignore format: pairs
  const config = {
    rollout: { groups: 8, group_size: 16 },
    policy_loss: { mini_batch: 32, epochs: 2 },
  };
  const positions = (kind: Parameters<typeof positionsOn>[0], metric: string) => [
    ...positionsOn(kind, run, shapeOf(config))!.of(run.get(metric)!),
  ];
  expect(positions('episode', 'rollout/reward_mean')).toEqual([128, 256, 384]);
  expect(positions('token', 'rollout/reward_mean')).toEqual([1280, 3840, 7680]);
  // The first iteration trains only the critic. 4 groups of 16 are 2 mini-batches, times 2 epochs; 3 groups leave half a batch.
  expect(positions('update', 'rollout/reward_mean')).toEqual([0, 4, 8]);
  expect(positions('time', 'rollout/reward_mean')).toEqual([5, 11, 18]);
  expect(positions('time', 'evaluation/lake/success_rate')).toEqual([0, 11]);
  expect(positionsOn('time', run, shapeOf(config))!.at(2)).toBe(11);
  expect(positionsOn('episode', run, shapeOf({}))).toBeNull();

  const more = source({
    'rollout/reward_mean': [[1, 0], [2, 0]],
    'rollout/rounds': [[1, 1], [2, 3]],
    'filter/kept_groups': [[1, 4], [2, 4]],
    'replay/share': [[1, 0], [2, 1 / 3]],
    'actor/grad_norm': [[1, 1], [2, 1]],
  }); // biome-ignore format: pairs
  const of = (kind: Parameters<typeof positionsOn>[0]) => [
    ...positionsOn(kind, more, shapeOf(config))!.of(more.get('rollout/reward_mean')!),
  ];
  expect(of('episode')).toEqual([128, 512]);
  // 2 replayed groups beside 4 make 3 mini-batches, times 2 epochs.
  expect(of('update')).toEqual([4, 10]);
});

describe('a time axis', () => {
  const at = (day: number, hour = 0, minute = 0) => new Date(2026, 2, day, hour, minute).getTime();

  test('positions iterations at their end, and interpolates between them', () => {
    const run = source({ a: [[0, 1], [1, 1], [3, 1], [9, 1]] }); // biome-ignore format: pairs
    expect(positionsOn('clock', run, shapeOf({}))).toBeNull();
    run.load([{ name: 'a', iterations: [0, 1, 3, 9], values: [1, 1, 1, 1] }], {
      iterations: [0, 1, 5],
      times: [1000, 2000, 6000],
    });
    const positions = positionsOn('clock', run, shapeOf({}))!;
    expect([...positions.of(run.get('a')!)]).toEqual([1000, 2000, 4000, 6000]);
    run.apply({ truncateAfter: null, points: [{ iteration: 9, metrics: { a: 2 }, time: 9000 }] });
    expect(positions.at(9)).toBe(9000);
    const subject = { id: 'run', label: 'run', source: run, shape: shapeOf({ iterations: 100 }) };
    expect(extentOf(positionsOf([subject], 'clock'), 'clock')()).toEqual({ min: 1000, max: 9000 });
  });

  test('has round times of day, and dates for long ranges', () => {
    const hours = clockTicks(at(4, 22, 10), at(5, 3), 5);
    expect(hours).toEqual([at(4, 23), at(5, 0), at(5, 1), at(5, 2), at(5, 3)]);
    const words = hours.map(clockTick);
    expect(words.map((word) => /\b(4|04|5|05)\b.*:00/.test(word))).toEqual([true, true, false, false, false]);
    const days = clockTicks(at(1, 5), at(6), 5);
    expect(days).toEqual([2, 3, 4, 5, 6].map((day) => at(day)));
    expect(days.map(clockTick).some((word) => word.includes(':'))).toBe(false);
  });
});

test("a tooltip shows smoothed and raw values, and a point's iteration", () => {
  const run = source({
    rollout: Array.from({ length: 43 }, (_, index): [number, number] => [index + 1, index % 2]),
    evaluation: [[0, 20], [40, 59]],
  }); // biome-ignore format: pairs
  const traces = [traceOf(run, 'rollout'), traceOf(run, 'evaluation', { sparse: true })];
  const tip = tipAt(spec, traces, 'iteration', 43, 0.6);
  expect(tip.title).toBe('Iteration 43');
  expect(tip.lines).toMatchObject([
    { label: 'rollout', notes: ['raw 0.0'] },
    { label: 'evaluation', value: '59.0', notes: ['at iteration 40'] },
  ]);
  const many = Array.from({ length: 30 }, (_, index) =>
    traceOf(source({ a: [[43, index]] }), 'a', { id: String(index), label: `run ${index}` }),
  );
  const nearest = tipAt(spec, many, 'iteration', 43, 0, 20.2);
  expect(nearest.more).toBe(18);
  expect(nearest.lines.map(({ label }) => label)).toContain('run 20');
  expect(nearest.lines.map(({ label }) => label)).not.toContain('run 2');
});

test('groups are drawn as mean with standard deviation or min to max', () => {
  const runs = [source({ a: [[1, 1], [2, 4]] }), source({ a: [[1, 3]] })]; // biome-ignore format: pairs
  const of = (group: GroupSeries, part: 'mean' | 'low' | 'high') => [...group[part].get('a')!.values()];
  const deviation = new GroupSeries(runs, 'deviation');
  expect(of(deviation, 'mean')).toEqual([2, 4]);
  expect(of(deviation, 'high')).toEqual([2 + Math.SQRT2, 4].map((value) => expect.closeTo(value, 12)));
  const range = new GroupSeries(runs, 'range');
  expect([of(range, 'low'), of(range, 'high')]).toEqual([[1, 4], [3, 4]]); // biome-ignore format: pairs
  runs[1]!.apply({ truncateAfter: null, points: [{ iteration: 2, metrics: { a: 8 } }] });
  expect(of(range, 'mean')).toEqual([2, 6]);
});

describe('a chart in a file', () => {
  const hostile = '=HYPERLINK("evil"),<script>\u0007';
  const run = source({ [hostile]: [[1, 0.5], [2, -1]] }); // biome-ignore format: pairs
  const picture: Picture = {
    spec: { ...spec, title: `<b>${hostile}` },
    traces: [traceOf(run, hostile, { label: hostile })],
    axis: 'iteration',
    view: { zoom: { min: 0, max: 2 }, smoothing: 0.5, log: false, ignoreOutliers: false },
    marks: [{ id: 'm', iteration: 1, tone: 'warning', title: '<i>', text: '' }],
    references: [{ value: 0.2, label: 'a & b' }],
    subtitle: '"run"',
  };

  test('is an SVG of lines, references and marks, with escaped text', () => {
    const svg = toSvg(picture, { width: 600, height: 400, color: () => '#102030' });
    const document = new DOMParser().parseFromString(svg, 'image/svg+xml');
    expect(document.querySelector('parsererror')).toBeNull();
    expect(document.querySelector('script, b, i')).toBeNull();
    expect(document.documentElement.textContent).toContain('<b>=HYPERLINK("evil"),<script>');
    expect(document.documentElement.textContent).toContain('a & b');
    // The line and the faint raw values.
    expect(document.querySelectorAll('g path')).toHaveLength(2);
    expect(document.querySelector('g line title')?.textContent).toBe('<i>');
  });

  test('is a table of raw values without formulas', () => {
    const [head, ...rows] = parse(toCsv(picture)) as string[][];
    expect(head).toEqual(['iteration', `'${hostile}: ${hostile}`, `'${hostile}: ${hostile} (smoothed 0.5)`]);
    expect(rows).toEqual([['1', '0.5', '0.5'], ['2', '-1', '-0.5']]); // biome-ignore format: rows
    for (const text of ['=1', '+1', '-1', '@a', '\tb', '\rc']) expect(cell(text).replace(/^"/, '')[0]).toBe("'");
    expect(cell('a "b", c')).toBe('"a ""b"", c"');
  });
});

test('success has references for the policy at the start of the run, random actions and the optimum, if known', () => {
  const run = source({ 'evaluation/lake/success_rate': [[0, 0.371]] }); // biome-ignore format: pairs
  const lake = { label: 'lake', type: 'frozen-lake', max_actions: 10, config: { size: 4, p: 0.8 } };
  const labels = (...environments: object[]) => successReferences({ environments }, run).map(({ label }) => label);
  expect(labels(lake)).toEqual(['at start 37.1 %', 'random 21 %']);
  const slips = { ...lake.config, is_slippery: true, success_rate: 1 / 3 };
  expect(labels({ ...lake, config: slips })).toContain('best possible 48 %');
  expect(labels({ ...lake, config: { size: 6, p: 0.8 } })).toEqual(['at start 37.1 %']);
  expect(labels(lake, { ...lake, label: 'other' })).toEqual([]);
  expect(successReferences(null, run)).toEqual([]);
});

test('labels of references avoid the lines of the chart and each other', () => {
  const drawn: { label: string; right: number; top: number }[] = [];
  /** Labels are 100 pixels wide on a chart of 1000 x 100. */
  const draw = (values: (number | null)[], references: { value: number; label: string }[]) => {
    drawn.length = 0;
    const ctx = {
      save() {},
      restore() {},
      fillRect() {},
      measureText: () => ({ width: 94 }),
      fillText: (label: string, right: number, middle: number) => drawn.push({ label, right, top: middle - 8 }),
    };
    const plot = {
      ctx,
      bbox: { left: 0, top: 0, width: 1000, height: 100 },
      data: [values.map((_, index) => index), values],
      valToPos: (value: number) => 100 - value,
      posToVal: (x: number) => (x / 1000) * (values.length - 1),
      valToIdx: Math.round,
    } as unknown as uPlot;
    drawReferenceLabels(plot, references, false, () => '#102030');
  };
  const random = { value: 40, label: 'random 40 %' };
  draw([10, 10, 10, 10, 10], [random]);
  expect(drawn).toEqual([{ label: 'random 40 %', right: 996, top: 44 }]);
  // A line ends above the reference, where the label would be: the label moves below its line.
  draw([90, 50, 50, 50, 50], [random]);
  expect(drawn).toEqual([{ label: 'random 40 %', right: 996, top: 61 }]);
  // The line crosses the reference near the right edge; gaps are drawn as lines.
  draw([10, 10, 10, 10, 10, 10, 10, 10, null, 90], [random]);
  expect(drawn[0]!.right).toBeLessThan(800);
  // Close references have their labels on different sides, in their order.
  draw([10, 10, 10, 10, 10], [random, { value: 41, label: 'at start 41 %' }]);
  expect(drawn.map(({ top }) => top)).toEqual([61, 43]);
});

test('every metric of the trainer has one chart with a title', () => {
  const concrete = metricNames.map((name) => name.replace('<turn>', '1').replace('<action>', 'Left'));
  const names = [...concrete, 'rollout/lake/entropy', 'evaluation/lake/success_rate', 'new/thing', 'loose'];
  const charts = metricSections(names).flatMap(({ charts }) => charts);
  const charted = charts.flatMap(({ lines }) => lines.map(({ metric }) => metric));
  expect(charted.toSorted()).toEqual(names.toSorted());
  expect(charts.filter(({ title }) => !/^\p{Lu}[^_/]*$/u.test(title))).toEqual([]);
  const sections = metricSections(names).map(({ title }) => title);
  expect(metricFacts('evaluation/frozen-lake/success_rate').title).toBe('Success, FrozenLake');
  expect(metricFacts('evaluation/lake/success_rate').title).toBe('Success, lake');
  expect(sections[0]).toBe('Echo Trap');
  expect(new Set(sections).size).toBe(sections.length);
});

test('metrics can be searched by title, name and regular expression, or as plain text', () => {
  const items = chartSpecs(['rollout/entropy']).map((each) => ({ spec: each }) as never);
  const found = (text: string) =>
    items.filter(searchFor(text).matches!).map(({ spec }: { spec: ChartSpec }) => spec.id);
  expect(found('^entropy$')).toEqual(['entropy']);
  expect(found('grad|reward_mean')).toEqual(['reward-mean', 'gradient-norm']);
  expect(found('actor/')).toEqual(['entropy', 'gradient-norm']);
  expect(searchFor('(')).toMatchObject({ note: expect.stringMatching(/searching as text/) });
  expect(searchFor('').matches).toBeNull();
});

describe('configurations', () => {
  const config = (seed: number, clip: number, more = {}) => ({
    seed,
    policy_loss: { clip_high: clip },
    ...more,
  });
  const runs = [config(1, 0.2), config(2, 0.2), config(1, 0.28), config(2, 0.28)].map((each) => ({
    settings: leavesOf(each),
    point: null,
  }));

  test('are compared by the settings that differ', () => {
    expect(differences([config(1, 0.2, { a: true }), config(1, 0.28, { b: '' })].map(leavesOf))).toMatchObject([
      { path: 'policy_loss.clip_high', values: ['0.2', '0.28'], meaning: expect.stringMatching(/clip/) },
      { path: 'a', values: ['on', null] },
      { path: 'b', values: [null, '(empty)'] },
    ]);
  });

  test('use the titles and units of the form', () => {
    const lake = (size: number, luck: string) => ({
      rollout: { groups: size },
      environments: [{ type: 'frozen-lake', noise: luck, config: { size } }],
    });
    expect(differences([lake(4, 'shared'), lake(8, 'independent')].map(leavesOf))).toMatchObject([
      { title: 'Prompts per iteration', unit: '', values: ['4', '8'] },
      { title: 'Randomness', values: ['Shared within group', 'Per episode'] },
      { path: 'environments.0.config.size', title: 'Size', unit: 'cells', values: ['4', '8'] },
    ]);
  });

  test('can group runs by a setting, or by all but the seed', () => {
    expect(groupingChoices(runs)).toEqual([
      { id: 'settings', title: 'all settings but the seed' },
      { id: 'policy_loss.clip_high', title: 'Upper clip range' },
    ]);
    expect(groupBy('settings', runs)).toMatchObject({ groups: [{ members: [0, 1] }, { members: [2, 3] }] });
    const byClip = groupBy('policy_loss.clip_high', runs);
    expect(byClip.groups.map(({ label }) => label)).toEqual(['clip high 0.2', 'clip high 0.28']);
    expect(groupingChoices(runs.slice(0, 2))).toEqual([{ id: 'all', title: 'all runs' }]);
    expect(groupBy('all', runs.slice(0, 2))).toMatchObject({ groups: [{ members: [0, 1] }] });
  });

  test('can group a list that grows and shrinks like a new list', () => {
    const index = new PathIndex();
    const lists = [
      runs.slice(0, 1),
      runs.slice(0, 2),
      runs,
      [...runs, { settings: leavesOf({ a: 1 }), point: null }],
      runs,
    ];
    for (const list of [...lists, runs.slice(1, 2), []]) {
      expect(groupingChoices(list, index)).toEqual(groupingChoices(list));
      expect(index.all).toEqual(new PathIndex().update(new Set(list.map(({ settings }) => settings))).all);
    }
  });
});

describe('references for success', () => {
  const lake = { label: 'lake', type: 'frozen-lake', config: { is_slippery: false } };
  const bandit = { label: 'arms', type: 'bandit', config: {} };
  const evaluated = source({
    'evaluation/lake/success_rate': [
      [0, 0.41],
      [20, 0.9],
    ],
  });
  const people = [
    { environment: 'arms', levels: 10, successes: 5 },
    { environment: 'lake', levels: 12, successes: 9 },
  ];

  test('are the initial policy, random actions and the user', () => {
    const labels = (...environments: object[]) =>
      successReferences({ environments }, evaluated, people).map(({ label }) => label);
    expect(labels(lake)).toEqual(['at start 41.0 %', 'You 75.0 %']);
    expect(labels(bandit)).toEqual(['random 50 %', 'You 50.0 %']);
    expect(labels(lake, bandit)).toEqual([]);
    expect(successReferences({ environments: [lake] }, evaluated)).toHaveLength(1);
  });

  test('of several runs are those that apply to all of them', () => {
    const of = (size: number, model = 'starter', more: object[] = []) => ({
      start: { model },
      environments: [{ ...lake, max_actions: 10, config: { size, p: 0.8, is_slippery: false } }, ...more],
    });
    const labels = (...configs: unknown[]) => sharedReferences(configs).map(({ label }) => label);
    expect(labels(of(4), of(4))).toEqual(['random 21 %']);
    expect(labels(of(4), of(6))).toEqual([]);
    expect(labels(of(4), of(4, 'starter', [bandit]))).toEqual([]);
    expect(labels(of(4), null)).toEqual([]);
    expect(labels()).toEqual([]);
    const paper = (model: string) => ({ start: { model }, environments: [bandit] });
    const same = [paper('Qwen2.5-0.5B'), paper('Qwen2.5-0.5B-Instruct')];
    expect(labels(...same)).toEqual(['random 50 %', 'RAGEN paper, table 4: 100.0 %']);
    expect(labels(...same, paper('starter'))).toEqual(['random 50 %']);
  });

  test('include the RAGEN paper for the same model and rules', () => {
    const room = (boxes: number) => ({
      ...{ label: 'room', type: 'sokoban', config: { dim_x: 6, dim_y: 6, num_boxes: boxes } },
    });
    const labels = (model: string, boxes: number) =>
      successReferences({ start: { model }, environments: [room(boxes)] }, evaluated).map(({ label }) => label);
    const line = 'RAGEN paper, table 4: 21.5 %';
    expect(labels('/models/Qwen2.5-0.5B-Instruct', 1)).toContain(line);
    expect(labels('/models/Qwen2.5-0.5B-Instruct', 2)).not.toContain(line);
    expect(labels('/models/starter', 1)).not.toContain(line);
  });
});

test('charts of evaluations name the panel, or state that the levels differ', () => {
  const spec = compareSpecs(['evaluation/lake/success_rate', 'rollout/success_rate']);
  const [a, b] = ['aaaaaaaaaa', 'bbbbbbbbbb'].map((hash) => ({ label: 'lake', hash }));
  expect(spec.map((each) => withPanels(each, [a!, a!]).unit)).toEqual(['panel aaaaaaaa', '']);
  const differing = withPanels(spec[0]!, [a!, b!]);
  expect(differing.unit).toBe('different panels');
  expect(differing.meaning).toContain('Evaluated on different levels: panels aaaaaaaa, bbbbbbbb.');
  expect(withPanels(spec[0]!, [])).toBe(spec[0]);
});
