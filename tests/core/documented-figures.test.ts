import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Estimate, usualPreset } from '../../core/contract/contract.ts';
import { mean } from '../../core/echo-trap/track.ts';
import { findPreset, presets } from '../../core/presets/presets.ts';
import { root } from './fixtures/world.ts';

const read = (path: string) => readFileSync(join(root, path), 'utf8');
const result = (name: string) => JSON.parse(read(`benchmarks/results/${name}.json`));

const learningFiles = readdirSync(join(root, 'benchmarks/results')).filter((name) => name.startsWith('learning-'));
const learned = learningFiles.map((name) => result(name.replace('.json', '')));

/** Returns a share in percent, with a decimal where a whole number would be 100 % by rounding. */
function percent(share: number): string {
  const whole = (100 * share).toFixed(0);
  return whole === '100' && share < 1 ? (100 * share).toFixed(1) : whole;
}

/** Returns the mean success before and after training, for each environment of a preset. */
function gains(learning: { runs: { iterations: number; curve: [number, number][] }[] }): [string, string][] {
  const first = learning.runs[0]!;
  const environments = first.curve.filter(([iteration]) => iteration === 0).length;
  return Array.from({ length: environments }, (_, at) => [
    percent(mean(learning.runs.map(({ curve }) => curve[at]![1]))),
    percent(mean(learning.runs.map(({ curve }) => curve.at(at - environments)![1]))),
  ]);
}

describe('expected results of presets', () => {
  test.each(learned)('$preset', (learning) => {
    const { expects, config } = findPreset(learning.preset);
    for (const [before, after] of gains(learning)) expect(expects).toContain(`${before} % → ${after} %`);
    // A shorter run than the preset's is named.
    const { iterations } = learning.runs[0];
    expect(expects.includes(`after ${iterations} iterations`)).toBe(iterations !== config.iterations);
  });

  test('are shown for measured presets only', () => {
    const measured = new Set(learned.map(({ preset }) => findPreset(preset).id));
    const claiming = presets.filter(({ expects }) => expects.includes('→')).map(({ id }) => id);
    expect(claiming.toSorted()).toEqual([...measured].toSorted());
  });

  test('equal those of README.md', () => {
    const text = read('README.md');
    for (const learning of learned) {
      const { alias } = findPreset(learning.preset);
      if (!alias) continue;
      const row = text.split('\n').find((line) => line.startsWith(`| \`${alias}\` |`));
      for (const [before, after] of gains(learning)) expect(row).toContain(`${before} % to ${after} %`);
    }
  });
});

test('the recommended presets have the algorithm with the highest mean success after equal compute', () => {
  const { results, over_tasks } = result('algorithms');
  const [best] = over_tasks.toSorted(
    (a: { success: Estimate }, b: { success: Estimate }) => b.success.mean - a.success.mean,
  );
  const names: string[] = results.map(({ sweep }: { sweep: string }) => sweep);
  const tasks = names.flatMap((name) => /^Algorithms: (.*)/.exec(name)?.[1] ?? []);
  expect(tasks).toHaveLength(3);
  for (const task of tasks) expect(findPreset(`starter-${task}`).id).toBe(`starter-${task}-${best.setting}`);
  expect(findPreset('starter-frozen-lake').id).toBe(usualPreset);
});

/** Formats a number as the documents do: without a decimal from 10 on. */
const short = (value: number) => (value === 0 || value >= 10 ? value.toFixed(0) : value.toFixed(1));
const grouped = (value: number) => value.toLocaleString('en-US');

test.each(['held_out', 'tuning'])('results on labeled runs (%s)', (part) => {
  const scores = result('echo-trap')[part];
  const rows = read('benchmarks/echo-trap/README.md');
  for (const method of ['ours', 'rlwatch', 'ragen2', 'flight_recorder']) {
    const s = scores[method];
    const counted = method === 'ours' && part === 'held_out';
    const { solved } = s.alarmed;
    const cells = [
      ...[`${s.hits} of ${s.collapsed}`, `${s.prompt_hits} of ${s.collapsed}`, `${s.median_lead ?? ''}`],
      short(s.false_alarms_per_1000) + (counted ? ` (${s.false_alarms} in ${grouped(s.healthy_iterations)})` : ''),
      `${solved.alarmed} of ${solved.runs}`,
    ];
    expect(rows).toContain(`| ${cells.join(' | ').replace('|  |', '| |')} |`);
  }
  if (part === 'tuning') return;
  const { hits, collapsed, false_alarms, healthy_iterations } = scores.ours;
  const alarms = `raised ${false_alarms} false alarms in ${grouped(healthy_iterations)} healthy`;
  expect(read('README.md').replaceAll('\n', ' ')).toContain(`before ${hits} of ${collapsed} collapses and ${alarms}`);
});

test('rescues and roll-backs', () => {
  const page = read('benchmarks/echo-trap/README.md');
  for (const { seed, left_alone: alone, rolled_back } of result('rescue').seeds) {
    const [{ stopped_at, back_to }] = rolled_back.rollbacks;
    const onset = alone.label.collapsed ?? 'does not collapse';
    const success = `${alone.last_ten} % | ${rolled_back.last_ten} %`;
    expect(page).toContain(`| ${seed} | ${onset} | ${stopped_at}, to ${back_to} | ${success} |`);
  }
  for (const name of ['reactions', 'reactions-gpu'])
    for (const each of ['collapsing', 'declining_or_locked', 'healthy']) {
      const { pairs, rolled_back, saved, gain, iterations_lost } = result(name).summary.groups[each];
      const interval = gain.low === null ? '' : ` [${gain.low}, ${gain.high}]`;
      const counts = [pairs, Math.round(pairs * rolled_back), Math.round(pairs * saved)].join(' | ');
      expect(page).toContain(`| ${counts} | ${gain.mean}${interval} | ${iterations_lost} |`);
    }
});

test('changes from a checkpoint', () => {
  const page = read('benchmarks/echo-trap/README.md');
  const cell = ({ mean, low, high }: { mean: number; low: number; high: number }) =>
    `${mean} (${Math.max(low, 0)} to ${Math.min(high, 100)})`;
  for (const { after_128_levels, last_ten_iterations } of result('remedies').points)
    expect(page).toContain(`| ${cell(after_128_levels)} | ${cell(last_ten_iterations)} |`);
  for (const point of result('revive').points) {
    const { last_ten_iterations, distinct_first_thoughts, think_entropy_nats, mutual_information_nats } = point;
    const nats = `${think_entropy_nats.mean} | ${mutual_information_nats.mean}`;
    expect(page).toContain(`| ${cell(last_ten_iterations)} | ${cell(distinct_first_thoughts)} | ${nats} |`);
  }
});

test('speed on CPU and GPU', () => {
  const cpu = read('benchmarks/README.md');
  const tokens = (name: string, engine: string) => {
    const { trained_tokens_per_second, generated_tokens_per_second } = result(name).results[engine];
    return [trained_tokens_per_second, generated_tokens_per_second].map(({ median }) => grouped(median));
  };
  for (const engine of ['engine', 'pytorch'])
    for (const precision of ['fp32', 'bf16'])
      expect(cpu).toContain(`| ${tokens('cpu-zen', `${engine}_${precision}`).join(' / ')} |`);
  for (const engine of ['engine_fp32', 'pytorch_fp32', 'engine_bf16'])
    for (const each of tokens('cpu', engine)) expect(cpu).toContain(`| ${each}`);

  const gpu = read('benchmarks/gpu/README.md');
  const { iterations, generation, training } = result('gpu').h200;
  // Halves are rounded up: 1.575 is 1.58.
  const rounded = (value: number) => (Math.round(100 * value + 1e-6) / 100).toFixed(2);
  for (const { response_mean, seconds, rollout_seconds, update_seconds } of iterations) {
    const before = String.raw`(?: \([\d.]+\))?`;
    const row = [rounded(seconds) + before, rounded(rollout_seconds) + before, rounded(update_seconds)];
    if (response_mean === 100) expect(gpu).toMatch(new RegExp(row.join(String.raw` \| `)));
    else expect(gpu).toContain(`${rounded(seconds)} `);
  }
  for (const { sequences, tokens_per_second } of generation.measured)
    if ([16, 128, 256].includes(sequences)) expect(gpu).toContain(`| ${grouped(tokens_per_second)}`);
  for (const { tokens_per_second } of training.measured) expect(gpu).toContain(`| ${grouped(tokens_per_second)}`);
});
