import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { type Handlers, procedures, type Settings } from '../../core/contract/contract.ts';
import { issueInWords } from '../../core/contract/issue-words.ts';
import type { Core } from '../../core/index.ts';
import { configForm, inTitles, titleOf, valueTitle } from '../../core/presets/form.ts';
import { findPreset } from '../../core/presets/presets.ts';
import description from '../../core/run-config/description.json' with { type: 'json' };
import { hiddenPaths } from '../../core/run-config/form-words.ts';
import { createHandlers } from '../../core/server/handlers.ts';
import { untilRun, World } from './fixtures/world.ts';

describe('the form', () => {
  test('shows every editable setting once, with a title and help', () => {
    const offered = [...configForm().sections, configForm().environment].flatMap(({ fields }) => fields);
    const paths = offered.map(({ path }) => path);
    expect([...paths, ...hiddenPaths].sort()).toEqual(description.fields.map(({ path }) => path).sort());
    for (const { title, help, choices } of offered) {
      expect(title).toMatch(/^[\p{Lu}βε]/u);
      expect(help).toMatch(/^\p{Lu}.*\.$/su);
      expect(help).not.toMatch(/[`[\]]/);
      for (const choice of choices) expect(choice.title).not.toContain('_');
    }
    for (const [type, fields] of Object.entries(description.environments))
      expect(configForm().types[type]?.fields.map(({ path }) => path)).toEqual(
        fields.map(({ path }) => `environments[].config.${path}`),
      );
    expect(configForm().first.every((path) => paths.includes(path))).toBe(true);
  });

  test('replaces setting paths in trainer messages with titles', () => {
    expect(titleOf('environments.0.config.size')).toBe('Size');
    expect(titleOf('start.sha256')).toBe('start.sha256');
    expect(valueTitle('critic.model', 'none')).toBe('None');
    expect(valueTitle('optimizer.learning_rate', 1e-4)).toBe('0.0001');
    expect(valueTitle('start.sha256', 'ab')).toBe('ab');
    expect(inTitles('critic.model is none')).toBe('“Critic” is “None”');
    expect(inTitles('rollout.groups: optimizer.learning_rate is 0: the policy stays as it is')).toBe(
      '“Prompts per iteration”: “Learning rate” is 0: the policy stays as it is',
    );
    expect(inTitles('environments[1].max_turns is 1')).toBe('“Max turns per episode” is 1');
  });
});

describe('configurations', { timeout: 60_000 }, () => {
  const preset = 'starter-frozen-lake';
  const small = {
    iterations: 4,
    'rollout.groups': 2,
    'rollout.group_size': 4,
    'policy_loss.mini_batch': 4,
    'evaluation.levels': 16,
    'checkpoint.every': 2,
  };
  let world: World;
  let core: Core;
  let api: Handlers;
  beforeAll(async () => {
    world = new World();
    core = await world.core();
    api = createHandlers(core);
  });
  afterEach(() => void vi.unstubAllEnvs());
  afterAll(() => world.close());
  const problems = async (set: Settings) =>
    (await api['configs.check']({ preset, set, titles: true })).problems.map(({ path, message }) => [path, message]);

  test('reports all problems at once, by setting title', async () => {
    expect(
      await problems({
        iterations: '0',
        'rollout.groups': 'many',
        'policy_loss.clip_high': '-1',
        'environments.0.config.size': '40',
        'rollout.think': 'perhaps',
        'rollout.grups': '3',
      }),
    ).toEqual([
      ['rollout.groups', 'Prompts per iteration must be a number.'],
      ['rollout.think', 'Think before acting must be true or false.'],
      ['rollout.grups', 'rollout.grups is not a setting.'],
      ['iterations', 'Iterations must be 1 or more.'],
      ['policy_loss.clip_high', 'Upper clip range must be 0 or more.'],
      ['environments.0.config.size', 'Size must be 32 or less.'],
    ]);
    expect(await problems({ iterations: '40' })).toEqual([]);
    // The CLI names settings by key.
    expect((await api['configs.check']({ preset, set: { iterations: '0' } })).problems[0]?.message).toBe(
      'iterations must be 1 or more.',
    );
  });

  test('reports each problem of a whole configuration and rejects newer versions', async () => {
    const { config } = findPreset(preset);
    const { seed: _, ...others } = structuredClone(config);
    const broken = { ...others, iteration: 1, iterations: 0 };
    const { problems } = await api['configs.check']({ config: broken, titles: true });
    expect(problems.map(({ message }) => message)).toEqual([
      'Seed is missing.',
      'Iterations must be 1 or more.',
      'iteration is not a setting.',
    ]);
    expect(problems[2]?.hint).toBe('Did you mean iterations?');
    await expect(async () => api['configs.check']({ config: { ...config, version: 99 } })).rejects.toMatchObject({
      code: 'config_version_unsupported',
    });
  });

  test("an exported preset configuration starts from the preset's model", async () => {
    const { config } = await api['configs.load']({ preset });
    const { runId } = await api['runs.create']({ config, set: small, start: false });
    expect(await core.runs.config(runId)).toMatchObject({
      start: { model: join(world.resources, 'starter') },
    });
  });

  test('the prompt preview reports a missing model as a problem', async () => {
    const shown = await api['configs.preview']({ preset });
    expect(shown).toMatchObject({ problem: null, context: 768, replyTokens: 96 });
    expect(shown.environments[0]?.samples.map(({ seed }) => seed)).toEqual([10000, 10001, 10002]);
    vi.stubEnv('HF_HUB_CACHE', '/nowhere');
    const missing = await api['configs.preview']({ preset: 'qwen2.5-0.5b-sokoban-starpo-s' });
    expect(missing).toMatchObject({ environments: [], problem: { code: 'model_missing' } });
    expect(missing.memory?.bytes).toBeGreaterThan(10e9);
    expect(missing.problem?.hint).toContain('“Model”');
  });

  test('estimates time from typical figures until this machine has measured runs, and follows the settings', async () => {
    const timeOf = async (set: Settings) => (await api['configs.check']({ preset, set })).time;
    const before = (await timeOf({}))!;
    expect(before).toMatchObject({ basis: 'typical', runs: 0 });
    expect((await timeOf({ iterations: 240, 'evaluation.every': 0 }))!.seconds).toBeGreaterThan(1.8 * before.seconds);
    // A context of several turns is read again for each later turn.
    const turns = { 'environments.0.max_turns': 20, 'environments.0.max_actions': 20 };
    const [whole, one, four] = await Promise.all(
      [0, 1, 4].map((window) => timeOf({ ...turns, 'rollout.context_turns': window })),
    );
    expect(one).toEqual(whole);
    expect(four!.seconds).toBeGreaterThan(1.5 * whole!.seconds);
    const published = await api['configs.check']({ preset: 'qwen2.5-0.5b-sokoban-starpo-s' });
    expect(published.time).toBeNull();

    const { runId } = await api['runs.create']({ preset, set: small, start: true });
    await untilRun(core, runId, ({ status }) => status === 'completed');
    // The fake trainer reports 1.5 s per iteration of eight episodes; the preset has 32 times as many.
    const measured = (await timeOf({ ...small, 'evaluation.every': 0, 'evaluation.levels': 1 }))!;
    expect(measured).toMatchObject({ basis: 'measured', runs: 1 });
    expect(measured.seconds).toBeGreaterThan(6);
    expect(measured.seconds).toBeLessThan(6.5);
    const cards = await api['presets.list']({});
    expect(cards.find(({ alias }) => alias === preset)?.time?.basis).toBe('measured');

    // Runs from another machine are ignored.
    const other = new World();
    world.copyRunsTo(other);
    const journal = join(other.home, 'runs', runId, 'events.jsonl');
    writeFileSync(journal, readFileSync(journal, 'utf8').replaceAll(/"host":"[^"]*"/g, '"host":"elsewhere"'));
    const elsewhere = createHandlers(await other.core());
    expect((await elsewhere['configs.check']({ preset })).time?.basis).toBe('typical');
    await other.close();
  });

  test('a time estimate is a range and ignores iterations that shared the device', async () => {
    const other = new World();
    const start = Date.now();
    /** Returns the journal of a trainer that ran iterations of these durations (s), starting at a time. */
    const journalOf = (from: number, durations: readonly number[]) => {
      const line = (seq: number, seconds: number, type: string, fields: object) =>
        JSON.stringify({ v: 1, seq, time: start + (from + seconds) * 1000, type, ...fields });
      const machine = {
        host: hostname(),
        device: 'cpu',
        threads: 2,
        pid: 2 ** 30,
        build: 'test',
        isa: 'avx2',
        parameters: 1,
      };
      const started = { resume: null, iteration: 0, iterations: durations.length, ...machine };
      let at = 0;
      return [
        line(0, 0, 'started', started),
        ...durations.map((seconds, index) => {
          at += seconds;
          const iteration = { iteration: index + 1, metrics: { 'time/iteration': seconds }, updates: {} };
          return line(index + 1, at, 'iteration', iteration);
        }),
      ];
    };
    const timeOf = async () => {
      const otherCore = await other.core();
      const set = { 'evaluation.every': 0 };
      const { time } = await createHandlers(otherCore)['configs.check']({ run: 'measured', set });
      await other.end();
      return time!;
    };
    other.run('measured', journalOf(0, [...Array(10).fill(2), ...Array(10).fill(4)]));
    const slowed = await timeOf();
    // The last ten iterations actually shared the device.
    other.run('beside', journalOf(20, Array(10).fill(4)));
    const beside = await timeOf();
    await other.close();
    expect(beside.seconds).toBeCloseTo(slowed.seconds / 2);
    expect(beside).toMatchObject({ basis: 'measured', runs: 1 });
    expect(beside.low).toBeLessThan(beside.seconds);
    expect(beside.high).toBeGreaterThan(beside.seconds);
  });

  test('extending a completed run forks it from its last checkpoint', async () => {
    const { runId } = await api['runs.create']({ preset, set: small, start: true });
    await untilRun(core, runId, ({ status }) => status === 'completed');
    const more = await api['runs.trainMore']({ runId, iterations: 3, start: true });
    const run = await untilRun(core, more.runId, ({ status }) => status === 'completed');
    expect(run).toMatchObject({ iteration: 7, iterations: 7, parent: { run: runId, iteration: 4 } });
    expect(await core.runs.config(more.runId)).toMatchObject({ start: { keep_optimizer: true } });

    const check = async (set: Settings) =>
      (await api['configs.check']({ run: runId, checkpoint: 4, keepOptimizer: false, set, titles: true })).warnings;
    expect(await check({ iterations: 8 })).toEqual([]);
    // Recorded runs collapsed at this rate.
    const risky = { preset: 'starter-frozen-lake-grpo', set: { 'optimizer.learning_rate': 7e-4 } };
    expect((await api['configs.check']({ ...risky, titles: true })).warnings).toEqual([
      "3 of 5 recorded runs of this model and environment collapsed at a step size (Learning rate × Epochs) of 7e-4. This run's is 7e-4. A lower learning rate is safer.",
    ]);
    // A schedule that only lowers the rate needs no warning.
    expect(await check({ iterations: 8, 'optimizer.schedule': 'linear' })).toEqual([]);
    const decays = { ...small, 'optimizer.schedule': 'linear' };
    const decayed = await api['runs.create']({ preset, set: decays, start: true });
    await untilRun(core, decayed.runId, ({ status }) => status === 'completed');
    const from = { run: decayed.runId, checkpoint: 4, keepOptimizer: false };
    const { warnings } = await api['configs.check']({ ...from, set: { iterations: 8 }, titles: true });
    expect(warnings).toEqual([
      expect.stringMatching(
        /^The learning rate would rise from 0 to 0\.00005 at iteration 5, since Schedule spans 8 iterations\./,
      ),
    ]);

    const folder = join(core.runs.folder(runId), 'checkpoints/000004');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'trainer-state.safetensors'), '');
    const extended = await api['runs.trainMore']({ runId, iterations: 3, start: false });
    expect(await core.runs.config(extended.runId)).toMatchObject({
      iterations: 7,
      start: { keep_optimizer: true },
    });
    await expect(async () =>
      api['runs.trainMore']({ runId: extended.runId, iterations: 3, start: false }),
    ).rejects.toMatchObject({ code: 'run_not_completed' });
  });
});

test('problems with API input are described in plain words', () => {
  const problems = (name: keyof typeof procedures, input: unknown) =>
    procedures[name].input
      .safeParse(input)
      .error!.issues.map((issue) => `${issue.path.join('.')} ${issueInWords(issue)}`);
  expect(problems('runs.trainMore', { runId: 'a', iterations: 0, start: 'yes' })).toEqual([
    'iterations must be 1 or more',
    'start must be true or false',
  ]);
  expect(problems('runs.trainMore', { runId: 'a', iterations: 1.5, start: true })).toEqual([
    'iterations must be a whole number',
  ]);
  expect(problems('studies.create', { name: '', base: { preset: 'a' }, points: [], seeds: [1] })).toEqual([
    'name must be text on one line',
    'points must have 1 entry or more',
  ]);
  const base = procedures['studies.create'].input.shape.base.parse({ run: 'a', checkpoint: 3 });
  expect(base).toEqual({ run: 'a', checkpoint: 3, keepOptimizer: false });
  const sweep = { name: 'a', points: [{ name: 'a', set: { x: [1] } }], seeds: [1] };
  expect(problems('studies.create', { ...sweep, base: { presets: 'a' } })).toEqual([
    'base must have preset, run or config',
    'points.0.set.x must be a string, a number or true or false',
  ]);
  expect(problems('studies.create', { ...sweep, base: { run: 'a', checkpoint: -1 } })[0]).toBe(
    'base.checkpoint must be 0 or more',
  );
});
