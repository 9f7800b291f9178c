/**
 * Summarizes the labeled runs per family of settings: how many collapsed, how and when, and final success (of evaluations if a run has
 * them, else of rollouts). Usage: npm run --silent benchmark:echo-trap-families -- [--only PATTERN] [--out FILE]
 */
import { existsSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { evaluatedSuccess } from '../../core/contract/run-facts.ts';
import { type LabeledRun, readLabeledRun } from '../../core/echo-trap/labeled-runs.ts';
import { wilson } from '../../core/echo-trap/score.ts';
import { mean, median } from '../../core/echo-trap/track.ts';
import { commandArguments, compactJson, machine } from '../machine.ts';
import list from './run-list.json' with { type: 'json' };

const { values } = parseArgs({
  options: { only: { type: 'string', default: '' }, out: { type: 'string' } },
});

/** Returns the mean success of the last iterations in percent. */
const lastIterations = 20;

function endOf({ points }: LabeledRun): number {
  const last = points.at(-1)!.iteration - lastIterations;
  const isEvaluated =
    points.filter(({ iteration, metrics }) => iteration > 0 && evaluatedSuccess(metrics) !== undefined).length > 2;
  const values = points.flatMap(({ iteration, metrics }) => {
    if (iteration <= last) return [];
    return (isEvaluated ? evaluatedSuccess(metrics) : metrics['rollout/success_rate']) ?? [];
  });
  return 100 * mean(values);
}

const count = (kinds: readonly string[]) =>
  Object.fromEntries([...new Set(kinds)].sort().map((kind) => [kind, kinds.filter((each) => each === kind).length]));

const round = (value: number) => Number(value.toFixed(1));

const families = list.families
  .filter(({ name }) => new RegExp(values.only).test(name))
  .flatMap(({ name, part, preset, set, seeds }) => {
    const runs = seeds
      .map((seed) => join(import.meta.dirname, part, `${name}-seed-${seed}`))
      .filter((folder) => existsSync(folder))
      .flatMap((folder) => readLabeledRun(folder) ?? []);
    if (runs.length === 0) return [];
    const collapsed = runs.filter((run) => run.collapsed !== null);
    const share = wilson(collapsed.length, runs.length);
    return {
      family: name,
      preset,
      set,
      runs: runs.length,
      collapsed: collapsed.length,
      collapsed_low: round(100 * share.low),
      collapsed_high: round(100 * share.high),
      kinds: count(runs.map(({ kind }) => kind)),
      onsets: collapsed.map((run) => run.collapsed!).sort((a, b) => a - b),
      success_at_end: { median: round(median(runs.map(endOf))), each: runs.map((run) => round(endOf(run))) },
    };
  });

console.table(
  families.map(({ family, runs, collapsed, collapsed_low, collapsed_high, kinds, onsets, success_at_end }) => ({
    family,
    runs,
    collapsed: `${collapsed} (${collapsed_low} to ${collapsed_high} %)`,
    kinds: Object.entries(kinds)
      .map(([kind, times]) => `${times} ${kind}`)
      .join(', '),
    onsets: onsets.join(', '),
    'success at the end': success_at_end.each.join(', '),
  })),
);
if (values.out) {
  const command = `npm run benchmark:echo-trap-families${commandArguments()}`;
  writeFileSync(resolve(values.out), `${compactJson({ command, machine: machine(), families })}\n`);
}
