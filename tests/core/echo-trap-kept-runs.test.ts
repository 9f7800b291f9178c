import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { EchoTrap, TrapState } from '../../core/contract/echo-trap.ts';
import { readLabeledRun } from '../../core/echo-trap/labeled-runs.ts';
import { isAlarm, isCalm } from '../../core/echo-trap/machine.ts';
import { Monitor } from '../../core/echo-trap/monitor.ts';
import { evidenceFor } from '../../core/echo-trap/words.ts';
import { root } from '../../scripts/lib/process.mjs';

/** Properties of the monitor's result on the recorded runs that its thresholds were chosen on. The held-out runs are only for benchmarks. */
const folder = join(root, 'benchmarks/echo-trap/tuning');
const runs = readdirSync(folder).flatMap((name) => readLabeledRun(join(folder, name)) ?? []);

/** Returns whether the regime is the quadrant of the newest position. Chaos and an undetermined regime have none. */
function isInQuadrant({ map: { regime, position, cross }, iteration }: EchoTrap): boolean {
  if (position?.iteration !== iteration || !['template', 'compressed', 'entropy_collapse'].includes(regime))
    return true;
  const dependent = position.dependence >= cross.dependence;
  if (position.entropy >= cross.entropy) return regime === 'template' && !dependent;
  return regime === (dependent ? 'compressed' : 'entropy_collapse');
}

/** Returns the contradictions between state, sentence, indicators, map and advice at one iteration. */
function contradictions(view: EchoTrap): string[] {
  const { state, signals, indicators, map, summary, warned, advice } = view;
  const active = indicators.filter((each) => each.state === 'on');
  const [main] = evidenceFor(state, signals);
  const calm = isCalm(state);
  const cleared = summary.startsWith('All signals have cleared.');
  const checks: Record<string, boolean> = {
    'indicators and evidence': active.length > 0 === (main !== undefined),
    'sentence and evidence': calm ? main === undefined : cleared === (main === undefined),
    'sentence and main signal': main === undefined || summary.includes(main.title),
    'indicators and main signal': main === undefined || active.some((each) => each.signals.includes(main.name)),
    'map and state': map.position === null || (map.regime === 'healthy') === calm,
    'regime and position': isInQuadrant(view),
    'advice and state': advice.length > 0 === !calm,
    'one recommended action': advice.filter(({ preferred }) => preferred).length === (calm ? 0 : 1),
    'warning and state': (warned !== null) === isAlarm(state),
  };
  return Object.keys(checks).filter((name) => !checks[name]);
}

const order: readonly TrapState[] = ['healthy', 'watch', 'warning', 'collapsing', 'collapsed'];
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
  test('state, sentence, indicators, map and advice agree at every iteration, and the state does not flap', () => {
    expect(runs.length).toBeGreaterThan(100);
    const found = runs.flatMap(({ name, config, points }) => {
      const monitor = new Monitor(config);
      const conflicts = points.flatMap((point) => {
        monitor.add(point);
        const view = monitor.view();
        return view ? contradictions(view).map((conflict) => `${name}, ${point.iteration}: ${conflict}`) : [];
      });
      const changes = mostChanges(monitor.view()!.history);
      const limit = name === warnedTwice ? 3 : 2;
      return changes > limit ? [...conflicts, `${name}: ${changes} changes within fifty iterations`] : conflicts;
    });
    expect(found).toEqual([]);
  }, 60_000);

  test('runs that collapse at once are in alarm by their sixth iteration', () => {
    const lostAtOnce = runs.filter(
      ({ points, collapsed }) => collapsed !== null && collapsed - points[0]!.iteration < 4,
    );
    const alarmed = lostAtOnce.map(({ name, config, points }) => {
      const monitor = new Monitor(config);
      monitor.addAll(points);
      return [
        name,
        monitor.alarms[0]! - points.find(({ metrics }) => 'rollout/success_rate' in metrics)!.iteration + 1,
      ];
    });
    expect(alarmed).toEqual([
      ['bandit-ppo-1e-3-seed-1', 5],
      ['bandit-ppo-1e-3-seed-2', 5],
      ['fork-kl-seed-2', 6],
      ['fork-unchanged-seed-2', 5],
    ]);
  });
});
