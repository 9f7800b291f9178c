import { describe, expect, test } from 'vitest';
import type { TrapState } from '../../core/contract/echo-trap.ts';
import { metricTitle } from '../../core/contract/metric-titles.ts';
import { shippedCalibration } from '../../core/echo-trap/calibration.ts';
import { type Reading, strengthOf } from '../../core/echo-trap/detector.ts';
import { fitWeights, ourAlarms } from '../../core/echo-trap/fit.ts';
import type { LabeledRun } from '../../core/echo-trap/labeled-runs.ts';
import { targetOf } from '../../core/echo-trap/machine.ts';
import { Monitor } from '../../core/echo-trap/monitor.ts';
import { type Example, fitRidge } from '../../core/echo-trap/ridge.ts';
import { detectors, type Latch, newLatches } from '../../core/echo-trap/signals.ts';
import { shippedThresholds } from '../../core/echo-trap/thresholds.ts';
import { baseConfig } from '../../core/presets/base.ts';
import { type Outcome, random, seriesOf } from './fixtures/trap-series.ts';

describe('signal strength', () => {
  const strength = (reading: Partial<Reading>) =>
    strengthOf({
      series: 'rollout/entropy',
      value: 0,
      baseline: 1,
      threshold: 0.5,
      worse: 'below',
      hot: false,
      cool: false,
      ...reading,
    });

  test('is 0 at the baseline, 1 at the threshold and at most 2, in both directions', () => {
    expect([1, 1.2, 0.75, 0.5, 0.25, 0, -5].map((value) => strength({ value }))).toEqual([0, 0, 0.5, 1, 1.5, 2, 2]);
    const high = { baseline: 10, threshold: 13 };
    expect([9, 10, 11.5, 13, 40].map((value) => strength({ ...high, value }))).toEqual([0, 0, 0.5, 1, 2]);
  });

  test('is 0 or 1 if the baseline equals the threshold or a value is missing', () => {
    expect(strength({ baseline: 1, threshold: 1, hot: true })).toBe(1);
    expect(strength({ baseline: 1, threshold: 1, hot: false })).toBe(0);
    expect(strength({ baseline: Number.NEGATIVE_INFINITY, hot: true })).toBe(0);
    expect(strength({ value: Number.NaN })).toBe(0);
  });
});

describe('risk score', () => {
  const all = (outcome: Outcome, iterations = 200) => {
    const monitor = new Monitor(baseConfig);
    return seriesOf(outcome, { iterations }).flatMap((point) => {
      monitor.add(point);
      return monitor.view() ?? [];
    });
  };

  test('has no share of runs that collapse with thresholds fitted to other runs', () => {
    const points = seriesOf('healthy', { iterations: 40 });
    const rateWith = (source: 'shipped' | 'fitted') => {
      const { about, thresholds } = shippedCalibration;
      const monitor = new Monitor(baseConfig, { thresholds, about: { ...about, source } });
      monitor.addAll(points);
      return monitor.view()!.collapseRate;
    };
    expect(rateWith('shipped')).toBeGreaterThan(0);
    expect(rateWith('fitted')).toBeNull();
  });

  test('has no share of runs that collapse after a collapse', () => {
    const rates = (collapsed: boolean) =>
      all('dead').flatMap((view) => ((view.state === 'collapsed') === collapsed ? view.collapseRate : []));
    expect(rates(false)).toContainEqual(expect.any(Number));
    expect([...new Set(rates(true))]).toEqual([null]);
  });

  test('starts a warning only with two families of signals, or one that persists', () => {
    type Signals = Record<string, Partial<Latch>>;
    const target = (signals: Signals, state: TrapState = 'healthy', risk = 1.2) => {
      const latches = newLatches();
      for (const [i, { name }] of detectors.entries()) Object.assign(latches[i]!, signals[name]);
      const outcome = { series: null, value: 0.4, error: 0, peak: 0.5, fall: 0, trend: 0 };
      return targetOf(state, latches, outcome, 30, risk, shippedThresholds);
    };
    const [on, near] = [{ on: true, since: 25, strength: 1 }, { strength: 0.4 }];
    expect(target({ steps_long: { strength: 2 } })).not.toBe('warning');
    expect(target({ format_falls: on })).not.toBe('warning');
    expect(target({ format_falls: on, levels_lost: near })).toBe('warning');
    // Signals of one family count once.
    expect(target({ actions_scatter: on, episodes_grow: near })).not.toBe('warning');
    // Signals without weight are on in many healthy runs.
    expect(target({ format_falls: on, reward_std_falls: on })).not.toBe('warning');
    expect(target({ format_falls: { ...on, since: 11 } })).toBe('warning');
    expect(target({ format_falls: { ...on, since: 12 } })).not.toBe('warning');
    // A warning lasts as long as the risk.
    expect(target({}, 'warning', 0.9)).toBe('warning');
    expect(target({}, 'warning', 0.7)).not.toBe('warning');
  });

  test("is the sum of the signals' contributions, and 1 raises a warning", () => {
    const views = all('template', 140);
    for (const { risk, signals } of views)
      expect(risk).toBeCloseTo(
        signals.reduce((sum, { contribution }) => sum + contribution, 0),
        10,
      );
    const warned = views.findIndex(({ state }) => state === 'warning');
    expect(warned).toBeGreaterThan(20);
    expect(views[warned]!.risk).toBeGreaterThanOrEqual(1);
    for (const { risk } of views.slice(0, warned)) expect(risk ?? 0).toBeLessThan(1);
    // The warning names the signal with the largest contribution.
    const [heaviest] = views[warned]!.signals.filter(({ stage }) => stage !== 'setting').toSorted(
      (a, b) => b.contribution - a.contribution,
    );
    expect(views[warned]!.why[0]).toMatch(new RegExp(metricTitle(heaviest!.series), 'i'));
    expect(views[warned]!.lastHealthy).toBeLessThan(views[warned]!.iteration);
  });

  test('is null without reasoning metrics and when nothing changes', () => {
    const monitor = new Monitor(baseConfig);
    const bare = seriesOf('template').map(({ iteration, metrics }) => ({
      iteration,
      metrics: { 'rollout/success_rate': metrics['rollout/success_rate'] ?? 0, 'rollout/entropy': 1 },
    }));
    monitor.addAll(bare);
    expect(monitor.view()).toMatchObject({ risk: null });
    const [, first] = seriesOf('healthy');
    const weights = { ...shippedThresholds.weights, updates_clip: 0.3 };
    const thresholds = { ...shippedThresholds, weights };
    const still = new Monitor(baseConfig, { ...shippedCalibration, thresholds });
    for (let iteration = 1; iteration <= 60; iteration += 1) still.add({ ...first!, iteration });
    const share = first!.metrics['actor/clip_fraction_high']!;
    expect(share).toBeGreaterThan(0);
    expect(still.view()!.risk).toBeCloseTo((weights.updates_clip * share) / thresholds.detectors.clipped!, 10);
    // A signal that is no longer measured contributes nothing.
    const { 'actor/clip_fraction_high': _, ...rest } = first!.metrics;
    for (let iteration = 61; iteration <= 120; iteration += 1) still.add({ iteration, metrics: rest });
    expect(still.view()!.risk).toBeCloseTo(0, 4);
  });

  test('grows with the step size, which alone raises no alert and turns on no signal', () => {
    const steps_long = shippedThresholds.weights.steps_long!;
    const { steady_steps = 0, long_steps = 0 } = shippedThresholds.detectors;
    const [, first] = seriesOf('healthy');
    const { 'actor/clip_fraction_high': _, ...calm } = first!.metrics;
    const at = (rate: number, epochs = 1, given = rate) => {
      const monitor = new Monitor({
        ...baseConfig,
        policy_loss: { ...baseConfig.policy_loss, epochs },
        optimizer: { ...baseConfig.optimizer, learning_rate: given },
      });
      for (let iteration = 1; iteration <= 60; iteration += 1)
        monitor.add({ iteration, metrics: { ...calm, 'actor/learning_rate': rate } });
      return monitor;
    };
    expect(steps_long).toBeGreaterThan(0);
    expect(at(steady_steps).view()!.risk).toBeCloseTo(0, 10);
    // The end of a schedule doesn't change the model. A language model's rate does, and no long step is known for it.
    expect(at(1.1e-5).view()!.risk).toBeCloseTo(0, 10);
    expect(at(1e-6, 1, steady_steps).view()!.risk).toBeCloseTo(0, 10);
    for (const rate of [1e-6, 4e-6]) expect(at(rate).view()!.risk).toBeCloseTo(steps_long / 2, 10);
    expect(at(long_steps).view()!.risk).toBeCloseTo(steps_long, 10);
    expect(at(long_steps / 2, 2).view()!.risk).toBeCloseTo(steps_long, 10);
    const longest = at(1, 4);
    expect(longest.view()).toMatchObject({ risk: expect.closeTo(2 * steps_long, 10) });
    expect(longest.alarms).toEqual([]);
    expect(longest.states.filter(({ state }) => state !== 'healthy')).toEqual([]);
    // An iteration without training has no rate.
    const { 'actor/learning_rate': rate, ...untrained } = calm;
    expect(rate).toBeGreaterThan(0);
    longest.add({ iteration: 61, metrics: untrained });
    expect(longest.view()).toMatchObject({ risk: expect.closeTo(2 * steps_long, 10) });
    const sign = longest.view()!.signals.find(({ name }) => name === 'steps_long')!;
    expect(sign).toMatchObject({ on: false, stage: 'setting', value: 4, baseline: steady_steps });
  });

  test('signals without weight are shown and do not raise the state', () => {
    const monitor = new Monitor(baseConfig);
    const spread = (iteration: number) => (iteration < 30 ? 0.4 : 0.05);
    for (const { iteration, metrics } of seriesOf('healthy', { iterations: 80 }))
      monitor.add({ iteration, metrics: { ...metrics, 'rollout/reward_std_in_group': spread(iteration) } });
    expect(shippedThresholds.weights.reward_std_falls).toBe(0);
    const { state, signals, indicators } = monitor.view()!;
    expect(signals.find(({ name }) => name === 'reward_std_falls')).toMatchObject({
      on: true,
      contribution: 0,
    });
    expect(indicators.find(({ name }) => name === 'reward_std')).toMatchObject({ state: 'off', signals: [] });
    expect(state).toBe('healthy');
    expect(monitor.alerts).toEqual([]);
  });

  test('a series of hard levels contributes nothing if level difficulty is measured', () => {
    const draw = random(5);
    const noise = (size: number) => size * (draw() + draw() + draw() - 1.5);
    const points = Array.from({ length: 80 }, (_, i) => {
      const randomSuccess = -2 + noise(0.8) - (i >= 50 && i < 70 ? 1 : 0);
      const harder = -(randomSuccess + 2);
      return {
        iteration: i + 1,
        metrics: {
          'rollout/success_rate': 0.6 - 0.2 * harder + noise(0.02),
          'rollout/pass_at_n': 0.8 - 0.15 * harder + noise(0.02),
          'rollout/turns': 2 + 0.5 * harder + noise(0.05),
          'rollout/template_share': 0.4,
          'rollout/random_success_logprob': randomSuccess,
        },
      };
    });
    const most = (series: typeof points) => {
      const monitor = new Monitor(null);
      return Math.max(
        ...series.map((point) => {
          monitor.add(point);
          return monitor.view()!.risk!;
        }),
      );
    };
    const blind = points.map(({ iteration, metrics: { 'rollout/random_success_logprob': _, ...metrics } }) => ({
      iteration,
      metrics,
    })) as typeof points;
    expect(most(points)).toBeLessThan(0.6 * most(blind));
  });
});

describe('ridge regression of the weights', () => {
  const example = (x: number[], y: boolean, weight = 1): Example => ({ x, y, weight });

  test('finds the weights of a table without a penalty', () => {
    // Odds are 3 to 1 with the signal on and 1 to 3 with it off.
    const examples = [example([1], true, 3), example([1], false, 1), example([0], true, 1), example([0], false, 3)];
    const { weights, bias } = fitRidge(examples, 0);
    expect(weights[0]).toBeCloseTo(2 * Math.log(3), 4);
    expect(bias).toBeCloseTo(-Math.log(3), 4);
  });

  test('weights are not negative, and the penalty is independent of the unit', () => {
    const draw = random(3);
    const examples = Array.from({ length: 200 }, () => {
      const [good, bad] = [draw(), draw()];
      return example([good, bad], draw() < 1 / (1 + Math.exp(3 * bad - 3 * good)), 1 / 200);
    });
    const unpenalized = fitRidge(examples, 0.001);
    expect(unpenalized.weights[0]).toBeGreaterThan(1);
    expect(unpenalized.weights[1]).toBe(0);
    const penalized = fitRidge(examples, 0.1);
    expect(penalized.weights[0]).toBeLessThan(unpenalized.weights[0]!);
    const larger = examples.map((each) => ({ ...each, x: [100 * each.x[0]!, each.x[1]!] }));
    expect(100 * fitRidge(larger, 0.1).weights[0]!).toBeCloseTo(penalized.weights[0]!, 6);
  });

  test('a constant signal gets no weight, and an empty set gives no weights', () => {
    expect(fitRidge([], 0.1)).toEqual({ weights: [], bias: 0 });
    const draw = random(9);
    const examples = Array.from({ length: 100 }, () => example([draw()], draw() < 0.5, 1 / 100));
    const moved = examples.map((each) => ({ ...each, x: [each.x[0]!, each.y ? 1 : 0.2] }));
    const still = moved.map((each) => ({ ...each, x: [...each.x, 0.3] }));
    expect(fitRidge(still, 0.1).weights[1]).toBeCloseTo(fitRidge(moved, 0.1).weights[1]!, 2);
    expect(fitRidge(still, 0.1).weights[1]).toBeGreaterThan(1);
  });
});

describe('weights fitted to labeled runs', () => {
  const labeled = (outcome: Outcome, seed: number): LabeledRun => ({
    name: `${outcome}-${seed}`,
    config: baseConfig,
    points: seriesOf(outcome, { seed }),
    collapsed: outcome === 'template' || outcome === 'chaos' ? 140 : null,
    kind: outcome,
    environment: 'frozen-lake',
    algorithm: 'GRPO',
    settings: '',
  });

  test('never raise a warning from step size alone, even if runs differ in nothing else', () => {
    const given = (rate: number, collapsed: number | null, seed: number): LabeledRun => {
      const run = labeled('healthy', seed);
      const points = run.points.map(({ iteration, metrics }) => ({
        iteration,
        metrics: { ...metrics, 'actor/learning_rate': rate },
      }));
      return { ...run, points, collapsed, kind: collapsed === null ? 'healthy' : 'chaos' };
    };
    const runs = [1, 2].flatMap((seed) => [given(1e-4, null, seed), given(6e-4, 100, seed)]);
    expect(fitWeights(runs, shippedThresholds).weights.steps_long).toBe(0.49);
  });

  test('predict runs outside the fitted set', () => {
    const outcomes: Outcome[] = ['template', 'chaos', 'healthy', 'locked', 'solved'];
    const thresholds = fitWeights(
      [1, 2].flatMap((seed) => outcomes.map((outcome) => labeled(outcome, seed))),
      shippedThresholds,
    );
    expect(Object.values(thresholds.weights).every((point) => point >= 0)).toBe(true);
    for (const seed of [7, 8, 9])
      for (const outcome of outcomes) {
        const alarms = ourAlarms(labeled(outcome, seed), thresholds);
        if (outcome === 'template' || outcome === 'chaos') {
          expect(alarms.length, outcome).toBeGreaterThan(0);
          expect(alarms[0], outcome).toBeGreaterThanOrEqual(40);
          expect(alarms[0], outcome).toBeLessThanOrEqual(140);
        } else expect(alarms, outcome).toEqual([]);
      }
  });

  test('need both healthy and collapsed runs', () => {
    for (const runs of [[labeled('healthy', 1)], [labeled('template', 1)], []])
      expect(() => fitWeights(runs, shippedThresholds)).toThrow(
        expect.objectContaining({ code: 'labeled_runs_missing' }),
      );
    const [healthy, collapsed] = [labeled('healthy', 1), labeled('template', 1)];
    const points = collapsed.points.map(({ iteration }) => ({ iteration, metrics: { 'rollout/success_rate': 0.5 } }));
    expect(() => fitWeights([healthy, { ...collapsed, points }], shippedThresholds)).toThrow(
      /^Fitting needs .* Of 2 runs, 1 can be used: those with metrics of their reasoning/,
    );
  });
});
