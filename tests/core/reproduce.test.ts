import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Client } from '../../core/contract/client.ts';
import { procedures, type Series } from '../../core/contract/contract.ts';
import { createSweeps } from '../../core/contract/create-sweeps.ts';
import { findPreset } from '../../core/presets/presets.ts';
import { differenceOf, measured, type RunResult, verdictOf } from '../../core/reproduce/measure.ts';
import { htmlPage, markdownPage } from '../../core/reproduce/page.ts';
import { paperStudies } from '../../core/reproduce/paper-facts.ts';
import { type Claim, type PaperStudy, sweepsOf } from '../../core/reproduce/paper-study.ts';
import { ragenStudies } from '../../core/reproduce/ragen-studies.ts';
import { paperModels, quickSettings, ragenSweeps } from '../../core/reproduce/ragen-sweeps.ts';
import { reportBlocks, type SweepResult } from '../../core/reproduce/report.ts';
import { sweepResult } from '../../core/reproduce/sweeps.ts';
import type { RunConfig } from '../../core/run-config/schema.ts';
import { applySettings } from '../../core/run-config/settings.ts';
import { mostTrainedEpisodes } from '../../core/run-config/trained-groups.ts';
import { validateConfig } from '../../core/run-config/validate.ts';
import { starpoHere } from './fixtures/command.ts';
import { World } from './fixtures/world.ts';

/** Returns the configurations of a sweep by setting. */
function configsOf(id: string, { quick = false, model = 'starter' } = {}): Map<string, RunConfig> {
  const sweep = ragenSweeps(model).find((each) => each.id === id)!;
  const base = findPreset(`${model}-${sweep.preset}`).config;
  return new Map(
    sweep.points.map(({ name, set }) => {
      const changes = quick ? quickSettings(model, sweep, set) : {};
      return [name, validateConfig(applySettings(applySettings({ ...base }, sweep.set), { ...set, ...changes }))];
    }),
  );
}

describe("RAGEN's studies", () => {
  test.each(['starter', 'qwen2.5-0.5b', 'qwen2.5-3b'])('have valid settings for %s, also shortened', (model) => {
    for (const { id } of ragenSweeps(model))
      for (const quick of [false, true])
        for (const [name, { rollout, policy_loss }] of configsOf(id, { model, quick })) {
          expect(policy_loss.mini_batch % rollout.group_size, `${id} ${name}`).toBe(0);
          expect(policy_loss.mini_batch).toBeLessThanOrEqual(rollout.groups * rollout.group_size);
        }
  });

  test.each([
    ['starter', ['BanditRev']],
    ['qwen2.5-0.5b', ['WebShop']],
    ['qwen2.5-3b', []],
  ])('cover the figures and tables for %s, and state what they leave out', (model, left) => {
    const studies = ragenStudies(model);
    expect(studies.map(({ id }) => id)).toEqual([
      ...['figure-5', 'figure-7', 'figure-8', 'figure-9', 'figure-10', 'figure-11'],
      ...['table-1', 'table-2', 'table-3', 'table-4'],
    ]);
    const missing = studies.flatMap((study) => study.missing.map((text) => /^\w+/.exec(text)![0]));
    expect([...new Set(missing)].sort()).toEqual([...left].sort());
    const sweeps = new Map(ragenSweeps(model).map((sweep) => [sweep.id, sweep]));
    const used = new Set<string>();
    for (const study of studies) {
      expect(study.question).toMatch(/\?$/);
      expect(study.constant).toMatch(/\.$/);
      for (const { sweep, point } of [...study.rows, ...study.claims.flatMap(({ higher, lower }) => [higher, lower])]) {
        expect(sweeps.get(sweep)?.points.map(({ name }) => name)).toContain(point);
        used.add(sweep);
      }
    }
    expect([...used].sort()).toEqual([...sweeps.keys()].sort());
  });

  test('hold constant what they state', () => {
    const updates = (config: RunConfig) =>
      (mostTrainedEpisodes(config) / config.policy_loss.mini_batch) * config.policy_loss.epochs * config.iterations;
    for (const id of ['reuse', 'fresh'])
      for (const config of configsOf(id).values()) {
        expect(updates(config)).toBe(100);
        expect(config.policy_loss.mini_batch).toBe(32);
      }
    for (const { iterations, rollout } of configsOf('fresh').values())
      expect(iterations * rollout.groups * rollout.group_size).toBe(12_800);
    for (const [name, config] of configsOf('prompts')) {
      expect(config.rollout.groups * config.rollout.group_size).toBe(128);
      expect(mostTrainedEpisodes(config)).toBe(name === '128 × 1' ? 128 : 32);
      expect(updates(config)).toBe(config.iterations);
    }
    for (const [name, { environments }] of configsOf('actions'))
      expect(environments.map((each) => [each.max_turns, each.max_actions_per_turn, each.max_actions])).toEqual(
        Array(4).fill([5, Number(name), 5 * Number(name)]),
      );
    const [, second] = configsOf('prompts').get('8 × 16')!.environments;
    expect(second).toMatchObject({ label: 'new-vocab', share: 0, config: { grid_lookup: { 0: 'W', 5: 'A' } } });
    const { environments } = configsOf('prompts', { model: 'qwen2.5-0.5b' }).get('8 × 16')!;
    expect(environments[1]!.prompt.first).toContain('W is wall, . is floor');
    expect(environments[1]!.prompt.first).not.toContain('# is wall');
  });
});

test('the studies of the paper are listed with their sweeps, what is held constant, and the numbers of the paper', () => {
  expect(paperModels).toEqual(['starter', 'qwen2.5-0.5b', 'qwen2.5-1.5b', 'qwen2.5-3b']);
  const study = paperStudies('qwen2.5-0.5b').find(({ id }) => id === 'table-4')!;
  expect(study).toMatchObject({ constant: expect.stringContaining('Algorithm'), missing: [] });
  expect(study.sweeps.map(({ name, base, points, seeds }) => [name, base.preset, points.length, seeds])).toContainEqual(
    ['RAGEN: BanditRev, reasoning, qwen2.5-0.5b', 'qwen2.5-0.5b-bandit-inverted-starpo-s', 2, [1]],
  );
  expect(study.numbers).toContainEqual({
    sweep: 'RAGEN: BanditRev, reasoning, qwen2.5-0.5b',
    point: 'NoThink',
    values: [{ quantity: 'BanditRev', value: '56.3 % (50.1 % to 62.2 %)' }],
  });
  // Each sweep is an input of studies.create.
  for (const model of paperModels)
    for (const { sweeps } of paperStudies(model))
      for (const sweep of sweeps) expect(procedures['studies.create'].input.safeParse(sweep).error).toBeUndefined();
});

const series = (name: string, values: number[]): [string, Series] => [
  name,
  { name, iterations: values.map((_, index) => index), values },
];
const evaluated = (seed: number, rates: number[], half = 0.1): RunResult => ({
  seed,
  series: new Map([
    series('evaluation/lake/success_rate', rates),
    series(
      'evaluation/lake/success_rate_low',
      rates.map((rate) => rate - half),
    ),
    series(
      'evaluation/lake/success_rate_high',
      rates.map((rate) => rate + half),
    ),
    series('rollout/think_tokens', [30, 20, 10]),
  ]),
  collapsed: null,
});
const claim: Claim = {
  text: 'A is better than B.',
  higher: { sweep: 's', point: 'A' },
  lower: { sweep: 's', point: 'B' },
  measure: { success: 'after', environment: 'lake' },
};

describe('a measure', () => {
  test('is a mean with an interval over seeds, or over the levels of a single run', () => {
    const runs = [1, 2, 3].map((seed) => evaluated(seed, [0.2, 0.9, 0.4 + 0.1 * seed]));
    const { mean, low, high, over } = measured(runs, claim.measure as never)!;
    // 0.6 ± 4.302653 * 0.1 / √3.
    expect([mean, low, high].map((value) => value!.toFixed(4))).toEqual(['0.6000', '0.3516', '0.8484']);
    expect(over).toBe('seeds');
    const single = measured(runs.slice(0, 1), { success: 'best', environment: 'lake' });
    expect(single).toEqual({ mean: 0.9, low: 0.8, high: 1, over: 'levels', n: 1 });
    expect(measured(runs.slice(0, 2), { success: 'before', environment: 'lake' })).toMatchObject({ low: null, n: 2 });
  });

  test('of a metric is a mean over the first or last iterations, at most half of them', () => {
    const of = (at: 'first' | 'last') =>
      measured([evaluated(1, [])], { metric: 'rollout/think_tokens', at, unit: 'tokens' });
    expect([of('first')?.mean, of('last')?.mean]).toEqual([30, 10]);
  });

  test('of tokens has a lower bound of at least 0', () => {
    const runs = [1, 2, 30].map((tokens) => {
      const [name, values] = series('rollout/think_tokens', [tokens, tokens]);
      return { seed: tokens, series: new Map([[name, values]]), collapsed: null };
    });
    const { low, high } = measured(runs, { metric: 'rollout/think_tokens', at: 'last', unit: 'tokens' })!;
    // 11 ± 4.302653 * 16.4621 / √3.
    expect([low, high!.toFixed(1)]).toEqual([0, '51.9']);
  });

  test('is absent, not 0, without a value', () => {
    expect(measured([evaluated(1, [0.3])], claim.measure as never)).toBeNull();
    expect(measured([], { metric: 'rollout/think_tokens', at: 'last', unit: 'tokens' })).toBeNull();
    expect(differenceOf([evaluated(1, [0.1, 0.3])], [], claim)).toBeNull();
    expect(verdictOf(null)).toBe('not measured');
  });

  test('differs by seed with three seeds, otherwise by the intervals of both sides', () => {
    const runs = (rates: number[]) => rates.map((rate, index) => evaluated(index + 1, [0.1, rate]));
    // Differences 0.1, 0.2 and 0.3: 0.2 ± 4.302653 * 0.1 / √3.
    const paired = differenceOf(runs([0.5, 0.7, 0.9]), runs([0.4, 0.5, 0.6]), claim)!;
    expect([paired.mean, paired.low, paired.high].map((value) => value!.toFixed(3))).toEqual([
      '0.200',
      '-0.048',
      '0.448',
    ]);
    expect(verdictOf(paired)).toBe('undecided');
    // Newcombe: 0.4 ± √(0.1² + 0.1²).
    const single = differenceOf(runs([0.7]), runs([0.3]), claim)!;
    expect([single.low, single.high].map((value) => value!.toFixed(4))).toEqual(['0.2586', '0.5414']);
    expect(verdictOf(single)).toBe('agrees');
    expect(verdictOf(differenceOf(runs([0.3]), runs([0.7]), claim))).toBe('disagrees');
  });
});

test('the sweeps of a study are created once and started until they have completed', async () => {
  const [done, stopped, missing] = paperStudies('starter').flatMap(({ sweeps }) => sweeps);
  const calls: [string, object][] = [];
  const existing = [
    { id: 'done', name: done!.name, state: 'completed' },
    { id: 'stopped', name: stopped!.name, state: 'incomplete' },
  ];
  const call = async (name: string, input: object) => {
    if (name === 'studies.list') return existing;
    calls.push([name, input]);
    return { id: 'new' };
  };
  const client = { call } as unknown as Pick<Client, 'call'>;
  const ids: string[] = [];
  for await (const id of createSweeps(client, [done!, stopped!, missing!], true)) ids.push(id);
  expect(ids).toEqual(['done', 'stopped', 'new']);
  expect(calls).toEqual([
    ['studies.start', { studyId: 'stopped' }],
    ['studies.create', { ...missing!, start: true }],
  ]);
});

test("a report shows the paper's numbers beside its own and lists claims that disagree", () => {
  const columns = [
    { title: 'Final success', measure: claim.measure },
    { title: 'Collapsed', measure: { collapsed: true } as const },
  ];
  const study: PaperStudy = {
    ...{ id: 'table-9', title: 'Table 9: lakes', question: 'Is A better?', constant: 'Episodes.', claims: [claim] },
    rows: [
      { sweep: 's', point: 'A', columns, paper: { 'Final success': { share: 0.5, n: 256 }, Collapsed: 'never' } },
      { sweep: 's', point: 'B', columns },
    ],
    missing: ['WebShop <needs> 3B.'],
  };
  const result: SweepResult = {
    ...{ id: 'lakes-1a2b', completed: 2, total: 2, failed: 0, panels: ['lake 12345678'] },
    trainers: [
      { device: 'cpu', name: 'AMD EPYC', build: '1+b' },
      { device: 'cuda:0', name: 'NVIDIA H200', build: '1+a' },
      { device: 'cuda:1', name: 'NVIDIA H200', build: '1+a' },
    ],
    runs: new Map([
      ['A', [evaluated(1, [0.1, 0.2])]],
      ['B', [{ ...evaluated(1, [0.1, 0.8]), collapsed: 40 }]],
    ]),
  };
  const facts = {
    ...{ title: 'Studies', command: 'starpo reproduce lakes', date: '2026-01-01', version: '1' },
    ...{ model: 'the starter', quick: true, sweeps: new Map([['s', 'Lakes']]) },
  };
  expect(sweepsOf(study)).toEqual(['s']);
  const blocks = reportBlocks(facts, [study], new Map([['s', result]]));
  const markdown = markdownPage(blocks);
  expect(markdown).toContain(
    '| Lakes | A | 1 | 20.0 % (10.0 % to 30.0 %) | 50.0 % (43.9 % to 56.1 %) | 0 of 1 (0.0 % to 79.3 %) | never |',
  );
  expect(markdown).toContain(
    '| Lakes | B | 1 | 80.0 % (70.0 % to 90.0 %) | curve only | 1 of 1 (20.7 % to 100.0 %), at iterations 40 |',
  );
  expect(markdown).toContain(
    '- Table 9: lakes. A is better than B. Here the difference is −60.0 percentage points (−74.1 to −45.9).',
  );
  expect(markdown).toContain('- **Held constant:** Episodes.');
  expect(markdown).toContain('- **Evaluation panels:** lake 12345678');
  expect(markdown).toContain('starpo reproduce lakes --only table-9\nstarpo sweep show lakes-1a2b');
  const html = htmlPage(facts.title, blocks);
  expect(html).toContain('<dd>WebShop &lt;needs&gt; 3B.</dd>');
  expect(html).not.toMatch(/<(script|link|img|iframe)|\b(src|href)=|url\(|@import/);
  expect(markdown).toContain('- **Devices:** NVIDIA H200 (2 runs), AMD EPYC (1 run)\n');
  expect(markdown).toContain('- **Trainers:** 1+a (2 runs), 1+b (1 run)\n');
  // Sweeps that do not exist yet have no results.
  const empty = markdownPage(reportBlocks(facts, [study], new Map()));
  expect(empty).toContain('| Lakes | A | 0 | not measured |');
  expect(empty).toContain('- **Devices:** not trained yet\n- **Trainers:** not trained yet\n');
});

test('a report names the trainers of runs that completed or stopped early', async () => {
  const machine = (build: string) => ({ device: 'cpu', name: 'CPU', build });
  const cell = (runId: string, finished: boolean) => ({ runId, seed: 1, status: 'stopped', finished, label: null });
  const answers: Record<string, unknown> = {
    'studies.get': {
      summary: { runs: { completed: 1, total: 2, failed: 0 } },
      table: [{ name: 'A', panels: [], cells: [cell('a', true), cell('b', false)] }],
    },
    'runs.series': [],
    'runs.list': [
      { id: 'a', machine: machine('1+a') },
      { id: 'b', machine: machine('1+b') },
      { id: 'c', machine: machine('1+c') },
    ],
  };
  const client = { call: async (name: string) => answers[name] } as unknown as Client;
  expect((await sweepResult(client, 's', [])).trainers).toEqual([machine('1+a')]);
});

const tablesOf = (markdown: string) => markdown.split('\n').filter((line) => line.startsWith('|'));

describe('starpo reproduce', { timeout: 120_000 }, () => {
  let world: World;
  beforeEach(() => {
    world = new World();
  });
  afterEach(() => world.close());

  test('trains the sweeps of a study once, resumes, and writes both reports', async () => {
    const out = join(world.folder, 'report');
    const run = (...args: string[]) =>
      starpoHere(['reproduce', 'ragen', '--quick', '--only', 'table-1', '--out', out, ...args], world.environment());
    const first = await run();
    expect(first).toMatchObject({ status: 0, errors: '' });
    expect(first.output).toContain('RAGEN: Bandit, StarPO (quick): GRPO s1  completed  2/2');
    expect(first.output).toMatch(/report\.md\n.*report\.html$/);
    const report = readFileSync(join(out, 'report.md'), 'utf8');
    expect(report).toContain('| Bandit, StarPO | GRPO | 1 |');
    // The runs' own trainer, not this machine.
    expect(report).toContain('- **Devices:** cpu (2 runs)\n- **Trainers:** fake (2 runs)\n');
    expect(readdirSync(out).sort()).toEqual(['report.html', 'report.md']);
    const again = await run();
    expect(again.status).toBe(0);
    expect(again.output).not.toContain('completed');
    expect(readdirSync(join(world.home, 'studies'))).toHaveLength(1);

    // The same sweep on another device is another sweep.
    expect(await run('--device', 'auto')).toMatchObject({ status: 0, errors: '' });
    expect(readdirSync(join(world.home, 'studies'))).toHaveLength(2);
    const runs = readdirSync(join(world.home, 'runs'));
    const devices = runs.map((id) => JSON.parse(readFileSync(join(world.home, 'runs', id, 'run.json'), 'utf8')).device);
    expect(devices.toSorted()).toEqual(['auto', 'auto', 'cpu', 'cpu']);
    const onDevice = readFileSync(join(out, 'report.md'), 'utf8');
    expect(onDevice).toContain('starpo reproduce ragen --quick --device auto --only table-1');
    expect(tablesOf(onDevice)).toEqual(tablesOf(report));
  });

  test('starpo sweep new creates the sweeps of a study once', async () => {
    const create = () => starpoHere(['sweep', 'new', '--study', 'figure-10'], world.environment());
    const { status, output } = await create();
    expect(status).toBe(0);
    expect(output.trim().split('\n')).toEqual([
      expect.stringMatching(/^ragen-sokoban-rollout-reuse-/),
      expect.stringMatching(/^ragen-sokoban-larger-rollouts-/),
    ]);
    expect((await create()).output).toBe(output);
    const { errors } = await starpoHere(['sweep', 'new', '--study', 'figure-6'], world.environment());
    expect(errors).toMatch(/Study "figure-6" was not found[\s\S]*Did you mean figure-5\?/);
  });

  test.each([
    [['vagen'], 'usage_invalid', 'There are no studies of "vagen".'],
    [['ragen', '--only', 'figure-55'], 'usage_invalid', 'Did you mean figure-5?'],
    [
      ['ragen', '--model', 'llama'],
      'preset_unknown',
      'Unknown model "llama".\n  hint: Models: starter, qwen2.5-0.5b, ',
    ],
  ])('refuses %j', async (args, code, text) => {
    const { status, errors } = await starpoHere(['reproduce', ...args], world.environment());
    expect(status).toBe(2);
    expect(errors).toContain(code);
    expect(errors).toContain(text);
  });
});
