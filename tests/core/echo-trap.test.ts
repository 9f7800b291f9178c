import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { echoTrap } from '../../core/contract/contract.ts';
import { type TrapSignal, type TrapState, trapRegime, trapState } from '../../core/contract/echo-trap.ts';
import { metricTitle, metricTitles } from '../../core/contract/metric-titles.ts';
import { isAlarm } from '../../core/contract/trap-words.ts';
import { adviceFor } from '../../core/echo-trap/advice.ts';
import { shippedCalibration } from '../../core/echo-trap/calibration.ts';
import { indicatorsOf } from '../../core/echo-trap/indicators.ts';
import { readLabeledRun } from '../../core/echo-trap/labeled-runs.ts';
import { advance, isCalm, newStanding } from '../../core/echo-trap/machine.ts';
import { Monitor } from '../../core/echo-trap/monitor.ts';
import { detectors } from '../../core/echo-trap/signals.ts';
import { parseThresholds, shippedThresholds } from '../../core/echo-trap/thresholds.ts';
import { type Point, type Watched, watched } from '../../core/echo-trap/track.ts';
import { alertMessage, evidenceFor, stateSummary, strongestEvidence } from '../../core/echo-trap/words.ts';
import { baseConfig } from '../../core/presets/base.ts';
import { findPreset } from '../../core/presets/presets.ts';
import type { RunConfig } from '../../core/run-config/run-config.ts';
import { metricNames } from '../../core/run-directory/metrics.ts';
import { root } from '../../scripts/lib/process.mjs';
import { thorough } from '../thorough.ts';
import { monitorOf, type Outcome, random, seriesOf } from './fixtures/trap-series.ts';

const outcomes: Outcome[] = ['healthy', 'solved', 'template', 'chaos', 'locked', 'dead'];
/** A recorded run whose risk varied around 1 between its warning and its collapse. */
const flapping = readLabeledRun(join(root, 'benchmarks/echo-trap/tuning/lake-grpo-5e-4-two-epochs-seed-1'))!;
const seeds = thorough ? [1, 2, 3, 4, 5] : [1, 2];
/** Metrics that a run without reasoning, or of another trainer, lacks. */
const ofThoughts = [
  'rollout/template_share',
  'rollout/distinct_first_thoughts',
  'rollout/thought_likeness_across',
  'rollout/think_tokens',
  'diagnostics/mutual_information',
  'diagnostics/mutual_information_ceiling',
];

describe('the Echo Trap monitor', () => {
  test.each(seeds)('a healthy run raises no alert, even if it solves its task (seed %i)', (seed) => {
    const healthy = monitorOf(seriesOf('healthy', { seed }));
    expect(healthy.alarms).toEqual([]);
    expect(healthy.view()).toMatchObject({ state: 'healthy', advice: [] });
    const solved = monitorOf(seriesOf('solved', { seed }));
    expect(solved.alarms).toEqual([]);
    expect(solved.view()!.state).toBe('solved');
  });

  test.each(seeds)('both kinds of collapse are detected before success falls (seed %i)', (seed) => {
    for (const [outcome, regimes] of [
      ['template', ['template', 'entropy_collapse']],
      // Signals contribute before they are on. Signals that are on determine the regime.
      ['chaos', ['chaos', 'unknown']],
    ] as const) {
      const monitor = monitorOf(seriesOf(outcome, { seed, fall: 140 }));
      const [first] = monitor.alarms;
      expect(first, outcome).toBeGreaterThanOrEqual(40);
      expect(first, outcome).toBeLessThan(140);
      const raised = monitor.alerts.find(({ iteration }) => iteration === first)!;
      expect(raised.level).toBe('warning');
      expect(regimes).toContain(raised.regime);
      expect(raised.since).toBeLessThanOrEqual(first!);
      expect(monitor.view()!.state).toBe('collapsed');
    }
  });

  test.each(seeds)("without reasoning metrics, the paper's signals still detect collapse (seed %i)", (seed) => {
    const known = ['rollout/success_rate', 'rollout/reward_std_in_group', 'rollout/entropy', 'actor/grad_norm'];
    const foreign = (outcome: Outcome) =>
      monitorOf(
        seriesOf(outcome, { seed, fall: 140 }).map(({ iteration, metrics }) => ({
          iteration,
          metrics: Object.fromEntries(Object.entries(metrics).filter(([name]) => known.includes(name))),
        })),
      );
    for (const outcome of ['healthy', 'solved'] as const) expect(foreign(outcome).alarms, outcome).toEqual([]);
    for (const outcome of ['template', 'chaos'] as const) {
      const [first] = foreign(outcome).alarms;
      expect(first, outcome).toBeGreaterThanOrEqual(40);
      expect(first, outcome).toBeLessThan(140);
    }
    // Signals that the paper lacks contribute nothing.
    const clipped = seriesOf('healthy', { seed }).map(({ iteration, metrics }) => ({
      iteration,
      metrics: {
        'rollout/success_rate': metrics['rollout/success_rate'] ?? 0,
        'actor/clip_fraction_high': 0.05,
      },
    }));
    expect(monitorOf(clipped).alarms).toEqual([]);
  });

  test.each(seeds)('a locked run is reported without an alert (seed %i)', (seed) => {
    const monitor = monitorOf(seriesOf('locked', { seed }));
    expect(monitor.alarms).toEqual([]);
    expect(monitor.view()!.state).toBe('locked');
    expect(monitor.alerts.map(({ level }) => level)).toContain('watch');
  });

  test('a higher state applies immediately, a lower one only after repeated iterations', () => {
    const standing = newStanding();
    const steps: [target: TrapState, state: TrapState, times?: number][] = [
      ['watch', 'watch'],
      ['locked', 'watch', 5],
      ['watch', 'watch'],
      ['locked', 'watch', 5],
      ['locked', 'locked'],
      ['healthy', 'locked'],
      ['warning', 'warning'],
      ['healthy', 'warning', 2],
      ['healthy', 'healthy'],
      // The worst state of the calm iterations below a warning is next.
      ['collapsing', 'collapsing'],
      ['locked', 'collapsing'],
      ['healthy', 'collapsing'],
      ['healthy', 'locked'],
    ];
    for (const [i, [target, state, times = 1]] of steps.entries())
      for (let each = 0; each < times; each += 1) {
        advance(standing, target, i, 3);
        expect(standing.state, `step ${i + 1}`).toBe(state);
      }
  });

  test('early collapse does not become the baseline', () => {
    const monitor = monitorOf(seriesOf('dead', { iterations: 40 }));
    expect(monitor.alarms[0]).toBeLessThan(15);
    expect(monitor.view()!.state).toBe('collapsed');
  });

  test('the six indicators are on in a collapse, and none in a healthy run', () => {
    const states = (points: Point[]) =>
      monitorOf(points)
        .view()!
        .indicators.map(({ name, state }) => [name, state]);
    expect(states(seriesOf('template', { fall: 140, iterations: 141 }))).toEqual([
      ['reward_std', 'on'],
      ['entropy', 'on'],
      ['gradient', 'on'],
      ['diversity', 'on'],
      ['format', 'off'],
      ['success', 'on'],
    ]);
    for (const outcome of ['healthy', 'solved'] as const)
      expect(states(seriesOf(outcome)).map(([, state]) => state)).toEqual(Array(6).fill('off'));
    const bare = seriesOf('healthy').map(({ iteration, metrics }) => ({
      iteration,
      metrics: { 'rollout/success_rate': metrics['rollout/success_rate']! },
    }));
    expect(states(bare).map(([, state]) => state)).toEqual([...Array(5).fill('unknown'), 'off']);
  });

  test('every observed signal belongs to one indicator', () => {
    for (const { name, stage } of detectors.filter((each) => each.stage !== 'setting')) {
      const active: TrapSignal = {
        ...{
          name,
          title: name,
          meaning: '',
          stage,
          regime: null,
          reference: 'usual',
          on: true,
          since: 3,
          contribution: 0,
          extreme: 1,
        },
        ...{ series: '', value: 1, baseline: 0, threshold: 1, worse: 'above', beyond: 3, needed: 3 },
      };
      const lit = indicatorsOf('watch', [active]).filter(({ state }) => state === 'on');
      expect(
        lit.map(({ signals, since }) => ({ signals, since })),
        name,
      ).toEqual([{ signals: [name], since: 3 }]);
      expect(indicatorsOf('healthy', [active]).filter(({ state }) => state === 'on')).toEqual([]);
    }
  });

  test.each([...outcomes, 'recorded'] as const)(
    'state, sentence, indicators and regime agree at every iteration (%s)',
    (outcome) => {
      const points = outcome === 'recorded' ? flapping.points : seriesOf(outcome, { iterations: 160 });
      const monitor = new Monitor(outcome === 'recorded' ? flapping.config : baseConfig);
      const measures = new Map<string, string>();
      for (const point of points) {
        monitor.add(point);
        const view = monitor.view();
        if (!view) continue;
        const { state, signals, indicators, map, summary, why, warned, risk, riskLimits } = view;
        const lit = indicators.filter((each) => each.state === 'on');
        const calm = isCalm(state);
        expect(lit.length > 0, `${point.iteration}: ${summary}`).toBe(!calm);
        expect(map.regime === 'healthy' || !map.position).toBe(calm || !map.position);
        const [main] = evidenceFor(state, signals);
        if (main) {
          expect(why[0]).toMatch(main.series === '' ? main.title : new RegExp(metricTitle(main.series), 'i'));
          expect(lit.flatMap((each) => each.signals)).toContain(main.name);
        }
        const alarmed = isAlarm(state);
        expect(warned !== null).toBe(alarmed);
        if (state === 'warning' && warned!.iteration === point.iteration)
          expect(risk).toBeGreaterThanOrEqual(riskLimits.warn);
        for (const { name, series } of indicators) {
          if (series === '') continue;
          expect(measures.get(name) ?? series).toBe(series);
          measures.set(name, series);
        }
      }
      expect(measures.size).toBe(6);
    },
  );

  test('a warning clears at a lower risk than it starts, so a recorded run is not warned twice', () => {
    const monitor = new Monitor(flapping.config);
    monitor.addAll(flapping.points);
    expect(monitor.view()!.history.map(({ state }) => state)).toEqual(['healthy', 'watch', 'warning', 'collapsing']);
    expect(monitor.alarms).toEqual([16]);
    const until = new Monitor(flapping.config);
    until.addAll(flapping.points.filter(({ iteration }) => iteration <= 40));
    const { state, risk, warned, riskLimits } = until.view()!;
    expect(state).toBe('warning');
    expect(risk).toBeLessThan(1);
    expect(warned).toMatchObject({ iteration: 16 });
    expect(warned!.risk).toBeGreaterThanOrEqual(1);
    expect(riskLimits).toEqual({ warn: 1, clear: 0.8, calmFor: 25 });
  });

  test("the map shows the run's position and path", () => {
    const { map } = monitorOf(seriesOf('template', { iterations: 1000, fall: 700 })).view()!;
    expect(map.regime).toBe('entropy_collapse');
    expect(map.trail).toHaveLength(200);
    expect(map.trail.at(-1)).toEqual(map.position);
    expect(map.position!.iteration).toBe(1000);
    expect(map.trail[0]!.dependence).toBeGreaterThan(map.cross.dependence);
    expect(map.position!.dependence).toBeLessThan(map.cross.dependence);
    const diagnosed = seriesOf('healthy').map(({ iteration, metrics }) => ({
      iteration,
      metrics: {
        ...metrics,
        ...(iteration % 5 === 0
          ? { 'diagnostics/mutual_information': 1.2, 'diagnostics/mutual_information_ceiling': 2 }
          : {}),
      },
    }));
    expect(monitorOf(diagnosed).view()!.map).toMatchObject({
      series: { dependence: 'diagnostics/mutual_information' },
      position: { dependence: 0.6 },
      regime: 'healthy',
    });
  });

  test.each(outcomes)('the state matches the API contract (%s)', (outcome) => {
    const monitor = new Monitor(baseConfig);
    expect(monitor.view()).toBeNull();
    for (const point of seriesOf(outcome)) {
      monitor.add(point);
      if (point.iteration % 10 === 1) echoTrap.parse(monitor.view());
    }
    expect(monitor.view()!.calibration.source).toBe('shipped');
  });

  test('an alert shows the worst value of a signal, and a summary mentions that a warned run has ended', () => {
    const points = seriesOf('healthy', { seed: 3 }).map((point) =>
      point.iteration === 100
        ? { ...point, metrics: { ...point.metrics, 'actor/grad_norm': 9.5, 'actor/grad_norm_max': 9.5 } }
        : point,
    );
    const monitor = monitorOf(points.filter(({ iteration }) => iteration <= 110));
    const spike = monitor.view()!.signals.find(({ name }) => name === 'gradient_spikes')!;
    expect(spike).toMatchObject({ on: true, since: 100, extreme: 9.5 });
    expect(spike.value).toBeLessThan(2);
    expect(alertMessage('watch', [spike])).toMatch(/Gradient spike since iteration 100: .* 9\.5 \(usually 0/);
    expect(strongestEvidence('watch', [spike])).toEqual([
      expect.stringMatching(/^Largest gradient norm [01]\.\d+ \(usually 0/),
    ]);
    expect(stateSummary('warning', [spike], false, 25)).toBe('High risk of collapse unless something changes.');
    expect(stateSummary('warning', [spike], true, 25)).toMatch(/^The run ended with a high risk/);
  });
});

describe('properties of the detectors', () => {
  test('a constant series above the floor never raises an alarm, with or without reasoning metrics', () => {
    const draw = random(7);
    const units: Partial<Record<Watched, number>> = {
      'rollout/entropy': 2,
      'rollout/answer_entropy': 2,
      'rollout/response_tokens': 1000,
      'rollout/think_tokens': 200,
      'rollout/turns': 10,
      'actor/learning_rate': 4e-3,
      'actor/grad_norm': 5,
      'actor/grad_norm_max': 20,
    };
    for (let trial = 0; trial < (thorough ? 120 : 24); trial += 1) {
      const drawn = watched.map((name): [Watched, number] => [name, (units[name] ?? 1) * draw()]);
      const metrics = Object.fromEntries(drawn);
      metrics['rollout/reward_mean'] = metrics['rollout/success_rate']!;
      metrics['rollout/reward_std_in_group'] = 0.05 + 0.45 * draw();
      const measured = Object.entries(metrics).filter(([name]) => trial % 2 === 0 || !ofThoughts.includes(name));
      const points = Array.from({ length: 300 }, (_, i) => ({
        iteration: i + 1,
        metrics: Object.fromEntries(measured),
      }));
      const monitor = monitorOf(points, trial % 4 < 2 ? baseConfig : null);
      expect(monitor.alarms, JSON.stringify(metrics)).toEqual([]);
      expect(monitor.alerts.filter(({ level }) => level !== 'watch')).toEqual([]);
    }
  });

  test('verdicts are independent of the unit of rewards', () => {
    const bandit = (unit: number): RunConfig => {
      const config = structuredClone(findPreset('starter-bandit').config);
      const [environment] = config.environments;
      Object.assign(environment!.config, { lo_arm_score: 0.1 * unit, hi_arm_hiscore: unit });
      return config;
    };
    for (const outcome of outcomes)
      for (const unit of thorough ? [0.01, 3, 250] : [0.01, 250]) {
        const plain = monitorOf(seriesOf(outcome), bandit(1));
        const scaled = monitorOf(seriesOf(outcome, { rewards: unit }), bandit(unit));
        expect(scaled.states, `${outcome}, ${unit}`).toEqual(plain.states);
        expect(scaled.alarms).toEqual(plain.alarms);
      }
  });

  test('verdicts are independent of the reward scale if the reward range is not available', () => {
    for (const outcome of outcomes) {
      const plain = monitorOf(seriesOf(outcome), null);
      expect(monitorOf(seriesOf(outcome, { rewards: 40 }), null).states, outcome).toEqual(plain.states);
    }
  });

  test('a series continued from a snapshot gives the same verdicts as the uninterrupted series', () => {
    const draw = random(3);
    for (const outcome of outcomes) {
      const points = seriesOf(outcome);
      const reference = monitorOf(points);
      for (let trial = 0; trial < (thorough ? 4 : 1); trial += 1) {
        const cut = Math.floor(draw() * points.length);
        const first = monitorOf(points.slice(0, cut));
        const before = first.alerts;
        const raised = first.addAll(points.slice(cut));
        expect(first.view()).toEqual(reference.view());
        expect([...before, ...raised]).toEqual(reference.alerts);
      }
    }
  });

  test('evaluations of several environments are combined, and only trained environments count', () => {
    const mixed = structuredClone(findPreset('starter-mixed').config);
    const [lake, bandit] = mixed.environments.map(({ label }) => `evaluation/${label}/success_rate`);
    const constant = (first: Record<string, number>) => [
      { iteration: 0, metrics: first },
      ...Array.from({ length: 120 }, (_, i) => ({
        iteration: i + 1,
        metrics: { 'rollout/success_rate': 0.5, 'rollout/reward_std_in_group': 0.3, 'rollout/entropy': 0.3 },
      })),
    ];
    const sets = { [lake!]: 0.2, [bandit!]: 0.9 };
    const [start, ...rest] = constant(sets);
    const apart = Object.entries(sets).map(([name, value]) => ({ ...start!, metrics: { [name]: value } }));
    for (const order of [apart, apart.toReversed()]) {
      const monitor = new Monitor(mixed);
      for (const point of [...order, ...rest]) monitor.add(point);
      expect(monitor.view()).toEqual(monitorOf([start!, ...rest], mixed).view());
      expect(monitor.alerts).toEqual([]);
    }
    // Nor if only one of the two is trained, nor in a fork.
    const alone = structuredClone(mixed);
    alone.environments[1]!.share = 0;
    const low = constant({ [lake!]: 0.1, [bandit!]: 0.98 }).map(({ iteration, metrics }) => ({
      iteration,
      metrics: iteration === 0 ? metrics : { ...metrics, 'rollout/success_rate': 0.12 },
    })) as Point[];
    const parent = monitorOf(low, alone);
    const fork = new Monitor(alone, undefined, parent.forkBaseline(80));
    fork.addAll(low.filter(({ iteration }) => iteration > 80));
    expect([...parent.alerts, ...fork.alerts]).toEqual([]);
    // An environment without training starts with far better play. For runs of other programs, the trained environments are not known.
    const elsewhere = constant({ 'evaluation/elsewhere/success_rate': 0.98 });
    const imported = { task: 'imported', environments: [{ label: 'elsewhere', type: 'imported' }] };
    for (const config of [mixed, imported]) expect(monitorOf(elsewhere, config).alerts).toEqual([]);
  });

  test('states and alerts do not depend on whether points arrive live, in batches, out of order, repeated or all at once', () => {
    const draw = random(5);
    for (const outcome of outcomes) {
      // A point out of order takes as long as all points before it.
      const points = seriesOf(outcome, thorough ? {} : { iterations: 80, fall: 50 });
      const offline = monitorOf(points);
      const live = new Monitor(baseConfig);
      const raised = points.flatMap((point) => live.add(point));
      expect(live.view()).toEqual(offline.view());
      expect(raised).toEqual(offline.alerts);
      const shuffled = new Monitor(baseConfig);
      const heap = [...points, ...points.filter(() => draw() < 0.2)];
      while (heap.length > 0) shuffled.add(heap.splice(Math.floor(draw() * Math.min(4, heap.length)), 1)[0]!);
      expect(shuffled.view()).toEqual(offline.view());
    }
  });

  test('repeated metrics of an iteration replace the previous ones', () => {
    const points = seriesOf('template');
    const spoiled = new Monitor(baseConfig);
    for (const { iteration, metrics } of points) {
      const dead = Object.fromEntries(Object.keys(metrics).map((name) => [name, 0]));
      if (iteration > 0) spoiled.add({ iteration, metrics: dead });
      spoiled.add({ iteration, metrics });
    }
    expect(spoiled.view()).toEqual(monitorOf(points).view());
  });

  test('rewinding the trainer removes later verdicts and alerts, which may occur again', () => {
    const points = seriesOf('template');
    const monitor = monitorOf(points);
    const before = monitor.alerts;
    expect(before.length).toBeGreaterThan(1);
    const last = before.at(-1)!;
    monitor.rewind(last.iteration - 1);
    expect(monitor.alerts).toEqual(before.slice(0, -1));
    expect(monitor.view()!.iteration).toBe(last.iteration - 1);
    expect(monitor.addAll(points)).toEqual([last]);
    expect(monitor.view()).toEqual(monitorOf(points).view());
    monitor.rewind(-1);
    expect(monitor.view()).toBeNull();
    const healthy = seriesOf('healthy');
    monitor.addAll(healthy);
    expect(monitor.view()).toEqual(monitorOf(healthy).view());
  });

  test('no alert occurs twice, and alert ids are independent of when the alert was found', () => {
    const points = seriesOf('template');
    const monitor = new Monitor(baseConfig);
    const repeated = thorough ? [...points, ...points] : points.filter((_, i) => i % 4 === 0);
    const raised = [...points, ...repeated].flatMap((point) => monitor.add(point));
    expect(new Set(raised.map(({ id }) => id)).size).toBe(raised.length);
    expect(raised.map(({ id }) => id)).toEqual(monitorOf(points).alerts.map(({ id }) => id));
    expect(raised.map(({ kind }) => kind.replace('echo_trap_', ''))).toEqual([
      'narrowing',
      'locked',
      'warning',
      'collapsing',
      'collapsed',
    ]);
  });

  test('series with gaps, unknown metrics and non-finite numbers are accepted', () => {
    const draw = random(11);
    const holed = seriesOf('template').map(({ iteration, metrics }) => ({
      iteration,
      metrics: Object.fromEntries(Object.entries(metrics).filter(() => draw() < 0.7)),
    }));
    expect(monitorOf(holed).view()!.state).toBe('collapsed');
    const strange = monitorOf([
      { iteration: 1, metrics: { weather: 1 } },
      { iteration: Number.NaN, metrics: {} },
    ]);
    expect(strange.view()).toBeNull();
    // A warm start plays no episodes.
    expect(monitorOf([{ iteration: 1, metrics: { 'actor/grad_norm': 1 } }]).view()).toBeNull();
    const broken = monitorOf(
      seriesOf('healthy').map(({ iteration, metrics }) => ({
        iteration,
        metrics: iteration === 100 ? { ...metrics, 'actor/grad_norm_max': Number.NaN } : metrics,
      })),
    );
    expect(broken.alarms).toEqual([100]);
    expect(broken.alerts[0]).toMatchObject({ level: 'collapsing', severity: 'critical', series: null });
    expect(broken.alerts[0]!.message).toMatch(/NaN or infinite value since iteration 100\.$/);
    for (const { message } of monitorOf(seriesOf('template')).alerts) expect(message).not.toMatch(/\w\/\w/);
    for (const only of ['rollout/reward_mean', 'rollout/success_rate', 'rollout/entropy'])
      monitorOf(
        seriesOf('template').map(({ iteration, metrics }) => ({
          iteration,
          metrics: { [only]: metrics[only] ?? Number.POSITIVE_INFINITY },
        })),
      ).view();
  });

  test('a series of hard levels is not a collapse if level difficulty is measured', () => {
    const draw = random(7);
    const noise = (size: number) => size * (draw() + draw() + draw() - 1.5);
    const points = Array.from({ length: 100 }, (_, i): Point => {
      const randomSuccess = -2 + noise(0.7) - (i >= 60 && i < 80 ? 1 : 0);
      const success = 0.6 + 0.2 * (randomSuccess + 2) + noise(0.03);
      return {
        iteration: i + 1,
        metrics: { 'rollout/success_rate': success, 'rollout/random_success_logprob': randomSuccess },
      };
    });
    const blind = points.map(({ iteration, metrics }) => {
      const { 'rollout/random_success_logprob': _, ...rest } = metrics;
      return { iteration, metrics: rest };
    });
    const fell = (series: Point[]) => {
      const monitor = new Monitor(null);
      return series.some((point) => {
        monitor.add(point);
        return monitor.view()!.signals.some(({ name, on }) => name === 'success_falls' && on);
      });
    };
    expect(fell(blind)).toBe(true);
    expect(fell(points)).toBe(false);
    // A loss of skill is still detected.
    const lost = points.map(({ iteration, metrics }) => {
      const success = metrics['rollout/success_rate']! - (iteration > 60 ? 0.3 : 0);
      return { iteration, metrics: { ...metrics, 'rollout/success_rate': success } };
    });
    expect(fell(lost)).toBe(true);
  });

  test('without a success rate, the monitor uses rewards', () => {
    const points = seriesOf('template', { rewards: 7 }).map(({ iteration, metrics }) => {
      const { 'rollout/success_rate': _, 'evaluation/lake/success_rate': __, ...rest } = metrics;
      return { iteration, metrics: rest };
    });
    expect(monitorOf(points, null).view()!.state).toBe('collapsed');
  });

  test('ten thousand iterations take less than a second of CPU time', () => {
    const monitor = new Monitor(baseConfig);
    const points = seriesOf('healthy', { iterations: 10_000 });
    const before = process.threadCpuUsage();
    for (const point of points) monitor.add(point);
    const { user, system } = process.threadCpuUsage(before);
    expect(monitor.view()!.iteration).toBe(10_000);
    expect(monitor.alarms).toEqual([]);
    expect((user + system) / 1e6).toBeLessThan(1);
  });
});

describe('advice', () => {
  const config = findPreset('starter-frozen-lake-grpo').config;
  const byId = (all: ReturnType<typeof adviceFor>) => Object.fromEntries(all.map((each) => [each.id, each]));

  test('names its changes, and the best effective advice is recommended', () => {
    const all = adviceFor('warning', 'template', config, 80);
    expect(all[0]).toMatchObject({
      id: 'gentler_rate',
      acts: true,
      preferred: true,
      action: {
        kind: 'rollback',
        notAfter: 80,
        changes: [{ path: 'optimizer.learning_rate', value: 3.3e-5 }],
      },
    });
    expect(all.filter(({ preferred }) => preferred)).toHaveLength(1);
    expect(all.map(({ id }) => id)).toEqual(expect.arrayContaining(['pause', 'stop']));
  });

  test('gives a reason where advice has no effect', () => {
    const template = byId(adviceFor('warning', 'template', config, 80));
    expect(template.no_kl).toMatchObject({
      acts: false,
      reason: expect.stringContaining('KL penalty is already 0'),
    });
    expect(template.varied_groups!.acts).toBe(true);
    // 16 groups of 16 in mini-batches of 64: four steps, so that the clip acts.
    expect(template.clip_higher!.acts).toBe(true);
    const oneStep = {
      ...config,
      policy_loss: { ...config.policy_loss, mini_batch: config.rollout.groups * config.rollout.group_size },
    };
    expect(byId(adviceFor('warning', 'template', oneStep, 80)).clip_higher).toMatchObject({ acts: false });
    const single = { ...config, rollout: { ...config.rollout, group_size: 1 } };
    expect(byId(adviceFor('warning', 'template', single, 80)).varied_groups).toMatchObject({ acts: false });
  });

  test('proposes a KL penalty only in chaos', () => {
    expect(byId(adviceFor('warning', 'chaos', config, 80)).hold_to_start).toMatchObject({ acts: true });
    expect(byId(adviceFor('warning', 'template', config, 80)).hold_to_start).toBeUndefined();
    // k1 in the loss has no expected gradient, so the estimator changes too.
    const inLoss = { ...config, kl: { ...config.kl, placement: 'loss', estimator: 'k1' } } as RunConfig;
    const { action } = byId(adviceFor('warning', 'chaos', inLoss, 80)).hold_to_start!;
    expect(action).toMatchObject({
      changes: [{ path: 'kl.coefficient' }, { path: 'kl.estimator', value: 'k3' }],
    });
    expect(adviceFor('healthy', 'healthy', config, 80)).toEqual([]);
    expect(adviceFor('solved', 'entropy_collapse', config, 80)).toEqual([]);
  });

  test('no setting helps if the policy is not trained', () => {
    const rollbacks = (changed: RunConfig, notAfter = 80) =>
      trapRegime.options.flatMap((regime) =>
        adviceFor('warning', regime, changed, notAfter).filter(
          ({ acts, action }) => acts && action.kind === 'rollback',
        ),
      );
    expect(rollbacks(config)).not.toEqual([]);
    expect(rollbacks({ ...config, optimizer: { ...config.optimizer, learning_rate: 0 } })).toEqual([]);
    // A fork's critic warms up from the fork on: from the first checkpoint of the run if there is no other.
    const ppo = findPreset('starter-frozen-lake-ppo').config;
    const warmed = (warmup: number, start = ppo.start) => ({
      ...ppo,
      start,
      critic: { ...ppo.critic, warmup },
    });
    expect(rollbacks(warmed(ppo.iterations - 1))).not.toEqual([]);
    expect(rollbacks(warmed(ppo.iterations))).toEqual([]);
    const forked = { ...ppo.start, run: 'parent', checkpoint: 60 };
    expect(rollbacks(warmed(ppo.iterations - 61, forked))).not.toEqual([]);
    expect(rollbacks(warmed(ppo.iterations - 60, forked))).toEqual([]);
  });

  test('omits changes without effect', () => {
    const unclipped = { ...config, policy_loss: { ...config.policy_loss, clip_low: 0, clip_high: 0 } };
    expect(byId(adviceFor('warning', 'template', unclipped, 80)).clip_higher).toMatchObject({
      acts: false,
      action: { changes: [] },
    });
    const sapo: RunConfig = { ...config, policy_loss: { ...config.policy_loss, objective: 'sapo' } };
    expect(byId(adviceFor('warning', 'template', sapo, 80)).clip_higher).toMatchObject({ acts: false });
    const filtered: RunConfig = { ...config, filter: { ...config.filter, strategy: 'fraction', keep: 0.75 } };
    expect(byId(adviceFor('warning', 'template', filtered, 80)).varied_groups).toMatchObject({
      acts: true,
      action: {
        changes: [
          { path: 'filter.keep', value: 0.5 },
          { path: 'rollout.groups', value: 2 * config.rollout.groups },
        ],
      },
    });
  });

  test('does not filter groups if each environment has only one', () => {
    const twin = (label: string) => ({ ...config.environments[0]!, label, share: 0.5 });
    const varied = (groups: number) => {
      const rollout = { ...config.rollout, groups };
      const two = { ...config, environments: [twin('a'), twin('b')], rollout };
      return byId(adviceFor('warning', 'template', two, 80)).varied_groups!.acts;
    };
    expect([varied(1), varied(2)]).toEqual([false, true]);
  });

  test('a checkpoint is worth saving until success falls', () => {
    const saved = (state: TrapState) => adviceFor(state, 'template', config, 80).some(({ id }) => id === 'checkpoint');
    expect(trapState.options.filter(saved)).toEqual(['watch', 'narrowing', 'locked', 'warning']);
  });

  test('fits any run if the configuration is incomplete', () => {
    for (const part of ['critic', 'environments']) {
      const { [part]: _, ...rest } = { ...config } as Record<string, unknown>;
      const { advice } = monitorOf(seriesOf('template', { fall: 140, iterations: 100 }), rest).view()!;
      expect(advice.map(({ id }) => id)).toEqual(['pause', 'checkpoint', 'stop']);
    }
  });

  test('every change is a valid setting', () => {
    for (const regime of ['template', 'chaos', 'compressed', 'entropy_collapse', 'unknown'] as const)
      for (const { action } of adviceFor('warning', regime, config, 0))
        for (const { path, value } of action.kind === 'rollback' ? action.changes : []) {
          const [section, key] = path.split('.') as [keyof RunConfig, string];
          const now = (config[section] as unknown as Record<string, unknown>)[key];
          expect(typeof value, path).toBe(typeof now);
        }
  });
});

describe('thresholds', () => {
  test.each([
    [
      'out of range',
      { ...shippedThresholds, detectors: { ...shippedThresholds.detectors, entropy_low: 2 } },
      /entropy_low/,
    ],
    ['of another type', { ...shippedThresholds, window: '5' }, /window/],
    ['unknown', { ...shippedThresholds, weather: 1 }, /weather/],
    ['thresholds that are not an object', null, /it must be an object/],
  ])('%s: thresholds are rejected by name', (_, thresholds, name) => {
    expect(() => parseThresholds(thresholds)).toThrow(expect.objectContaining({ code: 'thresholds_invalid' }));
    expect(() => parseThresholds(thresholds)).toThrow(name);
  });

  test('the defaults are in range, and other thresholds change verdicts', () => {
    expect(parseThresholds(shippedThresholds)).toEqual(shippedThresholds);
    const weights = Object.fromEntries(Object.keys(shippedThresholds.weights).map((name) => [name, 0]));
    const blunt = { ...shippedThresholds, weights };
    const monitor = new Monitor(baseConfig, { ...shippedCalibration, thresholds: blunt });
    monitor.addAll(seriesOf('chaos', { iterations: 145 }));
    expect(monitor.alarms).toEqual([]);
  });
});

test('detectors and metric titles use only metrics of the trainer', () => {
  // A metric or a member of a family, such as `rollout/reward_term/<term>`.
  const isMetric = (name: string) => metricNames.includes(name) || families.some((family) => name.startsWith(family));
  const families = metricNames.filter((name) => name.endsWith('>')).map((name) => name.slice(0, name.indexOf('<')));
  expect([...watched, ...Object.keys(metricTitles)].filter((name) => !isMetric(name))).toEqual([]);
});
