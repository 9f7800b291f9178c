import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { EchoTrap, TrapState } from '../../core/contract/echo-trap.ts';
import { metricTitle } from '../../core/contract/metric-titles.ts';
import { quadrantOf } from '../../core/contract/regime-map.ts';
import { isAlarm, stateOfAlert } from '../../core/contract/trap-words.ts';
import { readLabeledRun } from '../../core/echo-trap/labeled-runs.ts';
import { isCalm, losesVariety } from '../../core/echo-trap/machine.ts';
import { Monitor } from '../../core/echo-trap/monitor.ts';
import recordedRuns from '../../core/echo-trap/recorded-runs.json' with { type: 'json' };
import { countRecordedRuns, recordedCollapses } from '../../core/echo-trap/recorded-runs.ts';
import { detectors } from '../../core/echo-trap/signals.ts';
import { evidenceFor } from '../../core/echo-trap/words.ts';
import { presets } from '../../core/presets/presets.ts';
import { root } from '../../scripts/lib/process.mjs';
import { thorough } from '../thorough.ts';

/** Properties of the monitor's result on the recorded runs that its thresholds were chosen on. The held-out runs are only for benchmarks. */
const folder = join(root, 'benchmarks/echo-trap/tuning');
const runs = readdirSync(folder).flatMap((name) => readLabeledRun(join(folder, name)) ?? []);

/** Returns whether the map shades the area of its regime: everything, or the quadrant of the newest position. */
function isShaded({ state, iteration, map: { regime, namedBy, position, cross } }: EchoTrap): boolean {
  if (namedBy !== 'position') return isCalm(state) === (namedBy === 'state');
  return position?.iteration === iteration && quadrantOf(position, cross) === regime;
}

/** Returns the contradictions between state, sentences, indicators, risk, map and advice at one iteration. */
function contradictions(view: EchoTrap): string[] {
  const { state, signals, indicators, map, summary, why, warned, advice, risk, collapseRate, riskHistory } = view;
  const active = indicators.filter((each) => each.state === 'on');
  const evidence = evidenceFor(state, signals);
  const [main] = evidence;
  const calm = isCalm(state);
  const cleared = summary.startsWith('All signals have cleared.');
  const newest = riskHistory.at(-1);
  const named = why.every((text, i) => {
    const { title, series, baseline } = evidence[i]!;
    if (series === '') return text === title;
    return (
      text.toLowerCase().startsWith(metricTitle(series).toLowerCase()) &&
      (baseline === 0 ? /\(limit [\d.]/ : /\((usually|best|lowest) [-\d.]/).test(text)
    );
  });
  const checks: Record<string, boolean> = {
    'indicators and evidence': active.length > 0 === (main !== undefined),
    'summary and evidence': calm ? main === undefined : cleared === (main === undefined),
    'reasons and evidence': why.length === Math.min(2, evidence.length) && named,
    'indicators and main signal': main === undefined || active.some((each) => each.signals.includes(main.name)),
    'map and state': map.position === null || (map.regime === 'healthy') === calm,
    'regime and shading': isShaded(view),
    'advice and state': advice.length > 0 === !calm,
    'one recommended action': advice.filter(({ preferred }) => preferred).length === (calm ? 0 : 1),
    'warning and state': (warned !== null) === isAlarm(state),
    'risk and its chart': risk === null || (newest?.risk === risk && newest.alarm === isAlarm(state)),
    'risk and its share of runs': (collapseRate === null) === (risk === null || state === 'collapsed'),
    'variety and reasoning':
      !losesVariety(state) ||
      reasoning.has(main?.name ?? '') ||
      !signals.some(({ name, on }) => on && reasoning.has(name)),
  };
  return Object.keys(checks).filter((name) => !checks[name]);
}

/** Signals of reasoning that is the same on every level. */
const reasoning = new Set(detectors.flatMap(({ name, family }) => (family === 'reasoning' ? name : [])));

const order: readonly TrapState[] = ['healthy', 'narrowing', 'watch', 'warning', 'collapsing', 'collapsed'];
const rankOf = (state: TrapState) => Math.max(0, order.indexOf(state === 'locked' ? 'watch' : state));

/** Returns the most changes of state within fifty iterations. Successive changes to a worse state are one change: the run gets worse. */
function mostChanges(history: EchoTrap['history']): number {
  const ranks = history.map(({ state }) => rankOf(state));
  const rises = (i: number) => i > 0 && ranks[i]! > ranks[i - 1]!;
  const changes = history.filter((_, i) => i > 0 && !(rises(i) && rises(i - 1))).map(({ iteration }) => iteration);
  return Math.max(0, ...changes.map((from) => changes.filter((at) => at >= from && at < from + 50).length));
}

/** A second warning, 15 iterations after the first one cleared. Keeping the first warning longer would change which alarms are raised. */
const warnedTwice = 'lake-ppo-5e-4-seed-5';

describe('the monitor on recorded runs', () => {
  test('state, sentences, indicators, risk, map and advice agree at every iteration, and the state does not flap', () => {
    expect(runs.length).toBeGreaterThan(100);
    const checked = thorough ? runs : runs.filter(({ name }, i) => i % 4 === 0 || name === warnedTwice);
    const found = checked.flatMap(({ name, config, points }) => {
      const monitor = new Monitor(config);
      const conflicts = points.flatMap((point) => {
        monitor.add(point);
        const view = monitor.view();
        return view ? contradictions(view).map((conflict) => `${name}, ${point.iteration}: ${conflict}`) : [];
      });
      for (const alert of monitor.alerts) {
        const at = monitor.states.find(({ iteration }) => iteration === alert.iteration)!;
        if (stateOfAlert(alert) !== at.state) conflicts.push(`${name}, ${alert.iteration}: alert and state`);
      }
      const changes = mostChanges(monitor.view()!.history);
      const limit = name === warnedTwice ? 3 : 2;
      return changes > limit ? [...conflicts, `${name}: ${changes} changes within fifty iterations`] : conflicts;
    });
    expect(found).toEqual([]);
  }, 60_000);

  test('recorded runs that collapsed at the step size of a configuration are found', () => {
    expect(recordedRuns).toEqual(countRecordedRuns(runs));
    const collapsesOf = (preset: string, rate: number, epochs = 1, model = 'starter') => {
      const { config } = presets.find(({ id }) => id === preset)!;
      const risky = recordedCollapses({
        ...config,
        start: { ...config.start, model },
        optimizer: { ...config.optimizer, learning_rate: rate },
        policy_loss: { ...config.policy_loss, epochs },
      });
      return risky && [risky.collapsed, risky.runs, risky.step];
    };
    const lake = 'starter-frozen-lake-grpo';
    expect(collapsesOf(lake, 5e-4)).toEqual([8, 41, 5e-4]);
    expect(collapsesOf(lake, 5e-4, 2)).toEqual([5, 11, 1e-3]);
    // No recorded run collapsed at a clearly lower step size.
    expect(collapsesOf(lake, 3e-4)).toBeNull();
    // A step size above all recorded ones is compared with the nearest.
    expect(collapsesOf(lake, 1e-2)).toEqual([2, 4, 1.6e-3]);
    expect(collapsesOf('starter-sokoban-grpo', 1e-2)).toEqual([5, 9, 3e-4]);
    // No runs of other models are recorded.
    expect(collapsesOf(lake, 5e-4, 1, 'Qwen/Qwen2.5-0.5B')).toBeNull();
    for (const { id, config } of presets) if (!id.includes('trap')) expect(recordedCollapses(config), id).toBeNull();
  });

  test('runs that collapse within four iterations, and one that collapses after twelve, get a warning at their second iteration', () => {
    const lostAtOnce = runs.filter(
      ({ points, collapsed }) => collapsed !== null && collapsed - points[0]!.iteration < 4,
    );
    expect(lostAtOnce.map(({ name }) => name)).toEqual([
      'bandit-ppo-1e-3-seed-1',
      'bandit-ppo-1e-3-seed-2',
      'fork-kl-seed-2',
      'fork-unchanged-seed-2',
    ]);
    const named = runs.flatMap(({ name, config, points }) => {
      const monitor = new Monitor(config);
      const first = points.find(({ metrics }) => 'rollout/success_rate' in metrics)!.iteration;
      monitor.addAll(points.filter(({ iteration }) => iteration < first + 5));
      const { signals, why } = monitor.view()!;
      const { since } = signals.find((signal) => signal.name === 'lost_at_once')!;
      if (since !== null) expect(why.join()).toMatch(/Approximate KL [\d.]+ \(limit 0\.33\)/);
      return since === null ? [] : [[name, since - first + 1, monitor.alarms[0]! - first + 1]];
    });
    // The fifth collapses twelve iterations after its start.
    expect(named).toEqual(
      [...lostAtOnce.map(({ name }) => name), 'fork-entropy-bonus-seed-2'].sort().map((name) => [name, 2, 2]),
    );
  });
});
