import { describe, expect, test } from 'vitest';
import { Monitor } from '../../core/echo-trap/monitor.ts';
import type { Point } from '../../core/echo-trap/track.ts';
import { baseConfig } from '../../core/presets/base.ts';
import { monitorOf, seriesOf } from './fixtures/trap-series.ts';

const seeds = [1, 2, 3, 4, 5];

describe('the monitor of a fork', () => {
  const cut = 80;
  const parentOf = (points: readonly Point[], config: unknown = baseConfig) => monitorOf(points, config);
  /** Returns the fork baseline as read back from its file. */
  const forkFrom = (parent: Monitor, at: number) =>
    new Monitor(baseConfig, undefined, JSON.parse(JSON.stringify(parent.forkBaseline(at))));
  // The parent has continued.
  const forkOf = (points: readonly Point[], at = cut) => forkFrom(parentOf(points), at);
  const rest = (points: readonly Point[], at = cut) => points.filter(({ iteration }) => iteration > at);

  test.each(seeds)("a fork uses its parents' baseline and raises only alerts of its own (seed %i)", (seed) => {
    for (const outcome of ['template', 'chaos'] as const) {
      const points = seriesOf(outcome, { seed, fall: 140 });
      const fork = forkOf(points);
      expect(fork.view()).toBeNull();
      const raised = fork.addAll(rest(points));
      expect(fork.alarms, outcome).toEqual(monitorOf(points).alarms);
      expect(fork.alarms[0], outcome).toBeLessThan(monitorOf(rest(points)).alarms[0]!);
      expect(raised).toEqual(fork.alerts);
      expect(Math.min(...raised.map(({ iteration }) => iteration))).toBeGreaterThan(cut);
      expect(fork.states[0]).toEqual({ iteration: cut + 1, state: 'healthy' });
      expect(fork.view()!.history[0]).toEqual({ iteration: cut + 1, state: 'healthy' });
      expect(fork.view()!.map.trail.length).toBeLessThanOrEqual(rest(points).length);
    }
    for (const outcome of ['healthy', 'solved', 'locked'] as const) {
      const points = seriesOf(outcome, { seed });
      const fork = forkOf(points);
      fork.addAll(rest(points));
      expect(fork.alarms, outcome).toEqual([]);
    }
  });

  test('a fork from a point with signals of collapse uses its own baseline', () => {
    const points = seriesOf('template', { fall: 140 });
    const fork = forkOf(points, 125);
    fork.addAll(rest(points, 125));
    const alone = monitorOf(rest(points, 125));
    expect(fork.view()).toEqual(alone.view());
    expect(fork.alerts).toEqual(alone.alerts);
  });

  test("the healthy checkpoint falls back to the fork's start, and the parents' baseline survives restarts", () => {
    const points = seriesOf('chaos', { fall: 140 });
    const uninterrupted = forkOf(points);
    uninterrupted.addAll(rest(points));
    const fork = forkOf(points);
    fork.rewind(0);
    fork.addAll([{ iteration: cut, metrics: { 'evaluation/frozen-lake/success_rate': 0.5 } }]);
    fork.addAll(rest(points).slice(0, 50));
    fork.rewind(cut);
    expect(fork.view()).toBeNull();
    for (const point of rest(points)) fork.add(point);
    // The evaluation of its own start is an additional value and changes no verdict.
    expect(fork.states).toEqual(uninterrupted.states);
    expect(fork.alerts).toEqual(uninterrupted.alerts);
    const broken = forkOf(points);
    broken.addAll([
      {
        iteration: cut + 1,
        metrics: { ...rest(points)[0]!.metrics, 'actor/grad_norm': Number.NaN },
      },
    ]);
    expect(broken.view()).toMatchObject({ state: 'collapsing', lastHealthy: cut });
  });

  test("a fork gets no baseline if the parent's risk score, including its settings, is high at the fork", () => {
    const points = seriesOf('healthy');
    const at = (iteration: number, metrics: object) =>
      points.map((point) =>
        point.iteration === iteration ? { ...point, metrics: { ...point.metrics, ...metrics } } : point,
      );
    expect(parentOf(points).forkBaseline(cut)).toHaveLength(cut + 1);
    expect(parentOf(at(cut, { 'actor/grad_norm': Number.NaN })).forkBaseline(cut)).toEqual([]);
    expect(parentOf(at(cut + 1, { 'actor/grad_norm': Number.NaN })).forkBaseline(cut)).not.toEqual([]);
    // The same episodes with steps so long that they almost raise a warning alone.
    const chaos = seriesOf('chaos', { fall: 140 });
    const gentle = structuredClone(baseConfig);
    gentle.optimizer.learning_rate /= 100;
    const warned = parentOf(chaos).alarms[0]!;
    expect(parentOf(chaos).forkBaseline(warned)).toEqual([]);
    expect(parentOf(chaos, gentle).alarms[0] ?? Number.POSITIVE_INFINITY).toBeGreaterThan(warned);
  });

  test('a fork of a fork uses the baseline of its parent, from the same iteration on', () => {
    const points = seriesOf('template', { fall: 140 });
    const [middle, young] = [forkOf(points, 40), forkOf(points, 40)];
    middle.addAll(rest(points, 40));
    const last = forkFrom(middle, cut);
    last.addAll(rest(points));
    expect(last.alarms).toEqual(monitorOf(points).alarms);
    // A fork without iterations passes on the whole inherited baseline.
    expect(young.forkBaseline(40)).toEqual(forkOf(points, 40).forkBaseline(40));
    // A fork with its own baseline passes on only that: its parent's collapse is not a baseline.
    const alone = forkOf(points, 125);
    const recovered = seriesOf('healthy', { iterations: 260 }).filter(({ iteration }) => iteration > 125);
    alone.addAll(recovered);
    expect(alone.forkBaseline(200).map(({ iteration }) => iteration)).toEqual(
      Array.from({ length: 75 }, (_, i) => 126 + i),
    );
  });

  test("a fork's updates are compared with its own, because settings and optimizer may differ", () => {
    const points = seriesOf('healthy');
    const steeper = rest(points).map(({ iteration, metrics }) => ({
      iteration,
      metrics: { ...metrics, 'actor/grad_norm': 20 * metrics['actor/grad_norm']! },
    }));
    const fork = forkOf(points);
    fork.addAll(steeper);
    const grown = fork.view()!.signals.filter(({ name, on }) => name.startsWith('gradient') && on);
    expect(grown).toEqual([]);
  });
});
