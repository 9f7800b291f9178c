import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { parquetReadObjects } from 'hyparquet';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { fromBuffer } from 'yauzl';
import { createClient } from '../../core/contract/client.ts';
import type { ExportFormat } from '../../core/contract/contract.ts';
import { linkLifetime, linkTo } from '../../core/contract/handshake.ts';
import { shortHash } from '../../core/contract/panel-words.ts';
import { processEnvironment } from '../../core/environments/process.ts';
import { csvRow, latexText, markdownText } from '../../core/exports/escape.ts';
import { Exports } from '../../core/exports/exports.ts';
import { methodsText } from '../../core/exports/methods.ts';
import { originOf } from '../../core/exports/origin.ts';
import { latexTable, markdownTable, studyTable } from '../../core/exports/tables.ts';
import { TensorBoardLog } from '../../core/exports/tensorboard-live.ts';
import { tracedEpisode, traceOf } from '../../core/exports/traces.ts';
import { exportRun } from '../../core/host/commands/export.ts';
import type { Core } from '../../core/index.ts';
import { findPreset } from '../../core/presets/presets.ts';
import { applySettings, type Setting } from '../../core/run-config/settings.ts';
import { readPanelFiles } from '../../core/run-directory/panels.ts';
import { readEpisode, readEpisodes, readRawEpisode } from '../../core/run-directory/rollouts.ts';
import { float16Array, float32Array, int32Array } from '../../core/run-directory/token-arrays.ts';
import { releaseRuns } from '../release-runs.ts';
import { starpo } from './fixtures/child.ts';
import { starpoHere } from './fixtures/command.ts';
import * as journal from './fixtures/journal.ts';
import { rawRequest } from './fixtures/raw-request.ts';
import { readEvents } from './fixtures/tensorboard.ts';
import { collectNotices, root, World } from './fixtures/world.ts';

interface TraceNode {
  message: unknown;
  sampled: boolean;
  token_ids: number[];
  mask: boolean[];
  logprobs: number[];
  advantages?: number[] | null;
}

interface RawEpisode {
  steps: {
    context_ids: string;
    response: string;
    state: string;
    tokens: { ids: string; logprobs: string; advantages?: string };
  }[];
}

/** A run of the real trainer with episodes, evaluations and a checkpoint. */
const realRun = join(releaseRuns, 'sokoban');
const runId = 'a-real-run';
const panel = '{"version": 1,\n"levels": []}\n';
const hash = createHash('sha256').update(panel).digest('hex');

describe('exports of a run', { timeout: 120_000 }, () => {
  let world: World;
  let core: Core;
  beforeAll(async () => {
    world = new World();
    const folder = join(world.home, 'runs', runId);
    cpSync(realRun, folder, { recursive: true });
    // The fixture has no tokenizer, to be small.
    cpSync(join(root, 'resources/starter/tokenizer.json'), join(folder, 'checkpoints/000002/tokenizer.json'));
    // The run of the release has no panel.
    mkdirSync(join(folder, 'panels'));
    writeFileSync(join(folder, 'panels/sokoban.json'), panel);
    const journal = readFileSync(join(folder, 'events.jsonl'), 'utf8');
    writeFileSync(
      join(folder, 'events.jsonl'),
      journal.replaceAll('"type":"evaluation"', `"type":"evaluation","panel":"${hash}"`),
    );
    world.run('new-run');
    core = await world.core();
  });
  afterAll(() => world.close());

  const make = async (format: ExportFormat, more: { packed?: boolean; checkpoint?: number } = {}) => {
    const { packed, checkpoint } = more;
    const made = await core.exports.make({ of: { runId, checkpoint }, format, packed });
    const read = (name: string) => readFileSync(join(made.folder, name));
    return { ...made, names: made.files.map(({ name }) => name), read };
  };
  const rows = async (bytes: Buffer) => {
    const { buffer, byteOffset, length } = bytes;
    const file = buffer.slice(byteOffset, byteOffset + length) as ArrayBuffer;
    return (await parquetReadObjects({ file })) as Record<string, unknown>[];
  };
  const series = (name: string) => {
    const { iterations, values } = core.database
      .prepare<[string, string], { iteration: number; value: number }>(
        'SELECT iteration, value FROM metrics WHERE run = ? AND name = ? ORDER BY iteration',
      )
      .all(runId, name)
      .reduce<{ iterations: number[]; values: number[] }>(
        (all, { iteration, value }) => ({
          iterations: [...all.iterations, iteration],
          values: [...all.values, value],
        }),
        { iterations: [], values: [] },
      );
    return new Map(iterations.map((iteration, index) => [iteration, values[index]!]));
  };

  test('CSV and JSON lines have every metric of every iteration', async () => {
    const csv = await make('csv');
    const table: Record<string, string>[] = parse(csv.read(csv.names[0]!), { columns: true });
    const reward = series('rollout/reward_mean');
    expect(reward.size).toBeGreaterThan(1);
    for (const row of table) {
      const value = row['rollout/reward_mean'];
      expect(value === '' ? undefined : Number(value)).toBe(reward.get(Number(row.iteration)));
    }
    const lines = await make('jsonl');
    const objects = lines.read(lines.names[0]!).toString().trim().split('\n');
    expect(objects.map((line) => JSON.parse(line).iteration)).toEqual([0, 1, 2]);
    expect(JSON.parse(objects[1]!).metrics['rollout/reward_mean']).toBe(reward.get(1));
    // The run is evaluated before and after its two iterations, so iteration 1 has neither success nor a panel.
    const label = 'sokoban';
    expect(table.map((row) => row[`evaluation/${label}/panel`])).toEqual([hash, '', hash]);
    expect(table.map((row) => row[`evaluation/${label}/success_rate`] === '')).toEqual([false, true, false]);
    expect(objects.map((line) => JSON.parse(line).panels)).toEqual([{ [label]: hash }, undefined, { [label]: hash }]);
  });

  test('Parquet contains every episode and every sampled token, verified with another reader', async () => {
    const { names, read } = await make('parquet');
    expect(names).toEqual(['episodes.parquet', 'tokens.parquet']);
    const episodes = await rows(read('episodes.parquet'));
    const tokens = await rows(read('tokens.parquet'));
    for (const { split, panel } of episodes) expect(panel).toBe(split === 'sokoban' ? hash : null);
    expect(tokens).toHaveLength(episodes.reduce((sum, each) => sum + Number(each.tokens), 0));
    const paths = { file: 'rollouts/000001-train.jsonl.zst', index: 'rollouts/000001-train.index.json' };
    const [first] = await readEpisodes(realRun, paths);
    const original = await readEpisode(realRun, paths, first!.id);
    const { id, reward, success, turns } = first!;
    const row = episodes.find((each) => each.id === id)!;
    expect(row).toMatchObject({ id, iteration: 1, reward, success, turns, prompt: original.prompt_text });
    expect((row.conversation as { response: string }[]).map(({ response }) => response)).toEqual(
      original.steps.map(({ response }) => response),
    );
    const own = tokens.filter(({ episode, turn }) => episode === id && turn === 0);
    expect(own.map(({ logprob }) => logprob)).toEqual(float32Array(original.steps[0]!.tokens.logprobs));
    expect(own.map(({ position }) => position)).toEqual(own.map((_, index) => index));
    expect(episodes.filter(({ split }) => split !== 'train').every((each) => !each.trained_on)).toBe(true);
  });

  test('traces contain the exact tokens of every episode, by message', async () => {
    const { names, read } = await make('traces');
    const traces = read(names[0]!)
      .toString()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const episodes = await rows((await make('parquet')).read('episodes.parquet'));
    expect(traces.map(({ id }) => id)).toEqual(episodes.map(({ id }) => id));
    const paths = { file: 'rollouts/000001-train.jsonl.zst', index: 'rollouts/000001-train.index.json' };
    const summaries = await readEpisodes(realRun, paths);
    const { id } = summaries.find(({ turns, kept }) => turns > 1 && kept)!;
    const trace = traces.find((each) => each.id === id);
    const original = (await readRawEpisode(realRun, paths, id)) as unknown as RawEpisode;
    const ids = original.steps.flatMap(({ context_ids, tokens }) => [
      ...int32Array(context_ids),
      ...int32Array(tokens.ids),
    ]);
    expect(trace.nodes.flatMap(({ token_ids }: TraceNode) => token_ids)).toEqual(ids);
    const sampled: TraceNode[] = trace.nodes.filter((node: TraceNode) => node.sampled);
    expect(sampled).toHaveLength(original.steps.length);
    for (const [turn, { response, state, tokens }] of original.steps.entries()) {
      const node = sampled[turn]!;
      expect(node.message).toEqual({ role: 'assistant', content: response });
      expect(node.token_ids.filter((_, at) => node.mask[at])).toEqual(int32Array(tokens.ids));
      expect(node.logprobs).toEqual(float32Array(tokens.logprobs));
      expect(node.advantages).toEqual(float16Array(tokens.advantages!));
      const { message, mask, is_content, parent } = trace.nodes[trace.nodes.indexOf(node) - 1];
      expect(message).toEqual({ role: 'user', content: state });
      expect(mask).not.toContain(true);
      expect([is_content[0], is_content.at(-1), parent === null]).toEqual([false, false, turn === 0]);
    }
    const scores = Object.values<{ score: number }>(trace.rewards).map(({ score }) => score);
    expect(scores.reduce((sum, each) => sum + each, 0)).toBeCloseTo(trace.metrics.reward);
    expect(trace.calls.map(({ node }: { node: number }) => node)).toEqual(
      sampled.map((node) => trace.nodes.indexOf(node)),
    );
    const evaluated = traces.find(({ info }) => info.split !== 'train');
    expect(evaluated.nodes.at(-1).advantages).toBeNull();
    expect(
      traces
        .filter(({ task }) => task.key === evaluated.task.key)
        .every(({ task }) => task.hash === evaluated.task.hash),
    ).toBe(true);
  });

  test('in a trace, each context of an episode begins at a root', async () => {
    const paths = { file: 'rollouts/000001-train.jsonl.zst', index: 'rollouts/000001-train.index.json' };
    const { id } = (await readEpisodes(realRun, paths)).find(({ turns }) => turns > 2)!;
    const played = tracedEpisode.parse(await readRawEpisode(realRun, paths, id));
    expect(roots(played)).toEqual([0]);
    played.steps[2]!.begins_context = true;
    expect(roots(played)).toEqual([0, 2]);

    /** The turns whose contexts are roots. Each turn is its context and its response. */
    function roots(episode: typeof played): number[] {
      const { nodes } = traceOf(episode, 'a model', null);
      expect(nodes).toHaveLength(2 * episode.steps.length);
      for (const [at, { parent }] of nodes.entries()) expect([null, at - 1]).toContain(parent);
      return nodes.flatMap(({ parent }, at) => (parent === null ? [at / 2] : []));
    }
  });

  test('the panel of an evaluation is exported, and its hash is beside the results', async () => {
    const { names, read } = await make('panels');
    expect(names).toEqual([expect.stringMatching(/-sokoban-panel\.json$/)]);
    expect(read(names[0]!).toString()).toBe(panel);
    expect(core.runs.get(runId).panels).toEqual([{ label: 'sokoban', hash }]);
    const shown = `panel sokoban ${shortHash(hash)}`;
    for (const format of ['markdown', 'methods', 'latex'] as const) {
      const text = await make(format);
      expect(text.read(text.names[0]!).toString()).toContain(shown);
    }
    expect((await make('hugging-face', { checkpoint: 2 })).read('README.md').toString()).toContain(shortHash(hash));
    const file = join(core.runs.folder(runId), 'panels/sokoban.json');
    writeFileSync(file, panel.replace('[]', '[1]'));
    await expect(make('panels')).rejects.toMatchObject({ code: 'panel_changed' });
    writeFileSync(file, panel);
    // Labels of imported journals are not used as paths.
    const elsewhere = join(world.home, 'elsewhere.json');
    writeFileSync(elsewhere, panel);
    await expect(
      readPanelFiles(core.runs.folder(runId), [{ label: '../../../elsewhere', hash }]),
    ).rejects.toMatchObject({ code: 'panel_changed' });
  });

  test('TensorBoard files contain the same values at the same steps', async () => {
    const { names, read } = await make('tensorboard');
    expect(names[0]).toMatch(/tfevents/);
    const [version, ...events] = readEvents(read(names[0]!));
    expect(version).toMatchObject({ fileVersion: 'brain.Event:2' });
    const reward = series('rollout/reward_mean');
    const withReward = events.filter(({ scalars }) => 'rollout/reward_mean' in scalars);
    expect(withReward.map(({ step }) => step)).toEqual([...reward.keys()]);
    for (const { step, scalars } of withReward)
      expect(scalars['rollout/reward_mean']).toBe(Math.fround(reward.get(step)!));
  });

  test('a Hugging Face folder contains the unchanged checkpoint and a card with only available data', async () => {
    const example = JSON.parse(readFileSync('docs/formats/examples/evaluation.json', 'utf8'));
    const evaluations = join(core.runs.folder(runId), 'evaluations');
    mkdirSync(evaluations, { recursive: true });
    writeFileSync(
      join(evaluations, 'mine.json'),
      JSON.stringify({ ...example, checkpoint: 2, panel: null, top_p: 0.9 }),
    );
    const { names, read } = await make('hugging-face', { checkpoint: 2 });
    expect(names).toEqual(expect.arrayContaining(['README.md', 'config.json', 'model.safetensors', 'run.json']));
    expect(names.some((name) => name.startsWith('trainer-state'))).toBe(false);
    const model = readFileSync(join(realRun, 'checkpoints/000002/model.safetensors'));
    expect(read('model.safetensors').equals(model)).toBe(true);
    const card = read('README.md').toString();
    expect(card).toMatch(/^---\nlicense: \S+\nlibrary_name: transformers\n/);
    expect(card).toContain('A policy for Sokoban, trained from');
    expect(card).toMatch(/^\| Sokoban \| /m);
    expect(card).toMatch(/^\| FrozenLake \(requested, size=6\) \| 1024 \| temperature 0\.5 and top-p 0\.9 \|/m);
    expect(card).toContain('95 % Wilson interval');
    const at = series('evaluation/sokoban/success_rate').get(2)!;
    expect(card).toContain(`${(at * 100).toFixed(1)} %`);
    expect(card).toContain('One run with one seed');
    const config = JSON.parse(read('run.json').toString());
    expect(config.start.model).not.toContain('/');
    await expect(make('hugging-face', { checkpoint: 7 })).rejects.toMatchObject({
      code: 'checkpoint_missing',
    });
  });

  test('the methods paragraph and tables describe the run', async () => {
    const text = await core.exports.text({ of: { runId }, format: 'methods' });
    const config = JSON.parse(readFileSync(join(realRun, 'run.json'), 'utf8'));
    for (const phrase of ['Sokoban', `${config.rollout.groups} `, `seed ${config.seed}`, 'AdamW'])
      expect(text).toContain(phrase);
    expect(text).toMatch(/Sokoban \(rows 6, columns 6, boxes 1, /);
    expect(text).not.toMatch(/undefined|NaN|\{|\[object/);
    const table = await core.exports.text({ of: { runId }, format: 'markdown' });
    expect(table).toMatch(/\| Iteration \| Sokoban \|\n\| --- \| --- \|\n\| 0 \| .* % /);
    expect(await core.exports.text({ of: { runId }, format: 'latex' })).toContain('\\toprule');
  });

  test('the origin of a fork is that of its first ancestor', () => {
    const { config } = findPreset('starter-bandit');
    const from = (start: object) => ({ ...config, start: { ...config.start, ...start } });
    const folder = join(world.home, 'runs/parent');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'run.json'), JSON.stringify(from({ model: '/models/mine' })));
    const nameOf = (start: object) => originOf(from(start), { home: world.home, starter: '/starter' }).name;
    const model = join(folder, 'checkpoints/000002');
    expect(nameOf({ model })).toBe('the model "mine"');
    expect(nameOf({ model, weights: 'random' })).toBe('random weights (shape of 000002)');
    expect(nameOf({ model: '/elsewhere/000002' })).toBe('the model "000002"');
    rmSync(folder, { recursive: true });
    expect(nameOf({ model })).toBe('checkpoint 2 of another run');
  });

  test('the methods paragraph names the command of an own program', () => {
    const { config } = findPreset('starter-frozen-lake-grpo');
    const own = structuredClone(processEnvironment.preset);
    own.config.command = 'python3 game.py';
    const methods = methodsText(
      { ...config, environments: [own] },
      { name: 'a model', repository: null, license: null },
      { started: null, points: [], panels: [] },
    );
    expect(methods).toContain('on Own program ("python3 game.py") for');
  });

  test('the methods paragraph names replay, extra rounds, the length buffer, the normalization of terms and early stops', () => {
    const { config } = findPreset('starter-frozen-lake-grpo');
    const methods = methodsText(
      applySettings(config, {
        ...{ 'rollout.extra_rounds': 2, 'replay.iterations': 3, 'replay.share': 0.25, 'reward.length_cost': 0.5 },
        ...{ 'reward.length_buffer': 40, 'reward.normalization': 'mean_std', 'reward.normalize_terms': true },
        ...{ 'advantage.whiten': true, 'advantage.whiten_over': 'episodes', 'rollout.context_turns': 1 },
        ...{ 'early_stop.reward_std': 0.1, 'early_stop.failed_evaluations': 5, 'early_stop.empty_filters': 1 },
        'filter.strategy': 'top_p',
      }),
      { name: 'a model', repository: null, license: null },
      { started: null, points: [], panels: [] },
    );
    for (const sentence of [
      'Up to 2 further rounds were sampled per iteration, to replace groups with equal rewards (dynamic sampling, arXiv:2503.14476).',
      'Groups of the previous 3 iterations were replayed and made up at most 25 % of each update.',
      'a cost of 0.5 for a response of the maximum length, falling to 0 over the 40 tokens before it',
      'Each reward term was normalized to mean 0 and standard deviation 1 within each group, and the terms were added with their weights (GDPO, arXiv:2601.05242).',
      ', whitened over the episodes.',
      'Each response was sampled from a context of the last turn and trained',
      'Training was set to stop early after ten consecutive iterations with an in-group reward std below 0.1 times its mean over the first ten, 5 consecutive evaluations with a success rate below 1 % or one iteration in which the filter kept no group.',
    ])
      expect(methods).toContain(sentence);
  });

  test('the methods paragraph of a fork counts its own iterations, and that of a warm start names the demonstrations', () => {
    const methods = (name: string, settings: Record<string, Setting>) =>
      methodsText(
        applySettings(findPreset('starter-frozen-lake-grpo').config, { iterations: 5, ...settings }),
        { name, repository: null, license: null },
        { started: null, points: [{ iteration: 5, time: 0, values: {} }], panels: [] },
      );
    const fork = { 'start.run': 'gone', 'start.checkpoint': 3, 'early_stop.empty_filters': 1 };
    expect(methods('a model', fork)).toMatch(
      /^We trained a model .* for 2 iterations with seed 1\. Training started from checkpoint 3 of another run, whose iterations are not counted\. Each iteration/,
    );
    const orphan = methods('checkpoint 3 of another run', fork);
    expect(orphan).toMatch(/^We trained checkpoint 3 of another run .* for 2 iterations with seed 1\. Each iteration/);
    expect(orphan).toContain('At the start and at the end the policy was evaluated on 256 fixed levels with seeds');
    // The filter keeps all groups.
    expect(orphan).not.toContain('stop early');
    expect(methods('a model', { iterations: 50 })).toContain(
      'At the start and every 20 iterations the policy was evaluated',
    );
    const later = methods('a model', { 'start.model': '/home/runs/gone/checkpoints/000004' });
    expect(later).toMatch(/for 5 iterations with seed 1\. Training started from checkpoint 4 of another run, whose/);
    const demonstrations = methods('a model', { task: 'warm_start', 'evaluation.every': 1, 'evaluation.levels': 1 });
    expect(demonstrations).toMatch(
      /^We trained a model by supervised learning on a solver's demonstrations of FrozenLake \(.*\) for 5 iterations with seed 1\. The optimizer was/,
    );
    expect(demonstrations).toContain(
      'At the start and after every iteration the policy was evaluated on 1 fixed level ',
    );
  });

  test('the methods paragraph omits filters and rewards that have no effect', () => {
    const methods = (settings: Record<string, Setting>) =>
      methodsText(
        applySettings(findPreset('starter-frozen-lake-starpo-s').config, settings),
        { name: 'a model', repository: null, license: null },
        { started: null, points: [], panels: [] },
      );
    const { group_size } = findPreset('starter-frozen-lake-starpo-s').config.rollout;
    expect(group_size).toBeGreaterThan(1);
    expect(methods({})).toMatch(/ \(StarPO-S, .* Training used only the /);
    const withoutEffect: Record<string, Setting>[] = [
      { 'rollout.group_size': 1, 'reward.normalization': 'none' },
      { 'rollout.groups': 1 },
      { 'filter.keep': 1 },
      { 'filter.strategy': 'top_k', 'filter.count': 4096 },
    ];
    for (const settings of withoutEffect)
      expect(methods({ 'filter.strategy': 'fraction', ...settings })).toMatch(
        / \(StarPO, .* Training used all groups\./,
      );

    const rewards = { 'reward.grounding_weight': 0.25, 'reward.faithfulness_weight': 0.5 };
    expect(methods(rewards)).toContain(
      'up to 0.25 for true claims about the state and up to 0.5 for acting as planned',
    );
    expect(methods({ ...rewards, 'rollout.think': false })).not.toMatch(/true claims|as planned/);
  });

  test('the methods paragraph counts optimizer steps by the episodes that are trained on', () => {
    const methods = (settings: Record<string, Setting>) =>
      methodsText(
        applySettings(findPreset('starter-frozen-lake-starpo-s').config, {
          ...{ 'rollout.groups': 4, 'rollout.group_size': 16, 'filter.keep': 0.5, 'policy_loss.epochs': 1 },
          ...{ 'policy_loss.mini_batch': 64, ...settings },
        }),
        { name: 'a model', repository: null, license: null },
        { started: null, points: [], panels: [] },
      );
    const one = methods({ 'policy_loss.log_ratio_penalty': 0.1 });
    expect(one).toContain(', with one optimizer step on at most 32 episodes per iteration. ');
    expect(one).toContain(' The ratio was therefore 1 at every token and clipping had no effect. ');
    expect(one).not.toMatch(/mini-batch|log-ratio penalty/);
    expect(methods({ device: 'auto', exactness: 'fast' })).toContain('at every token, except for rounding, and');
    const epochs = methods({ 'policy_loss.epochs': 2, 'policy_loss.log_ratio_penalty': 0.1 });
    expect(epochs).toContain(
      ', with 2 optimizer steps, one per epoch, on at most 32 episodes per iteration. A squared',
    );
    const split = methods({ 'policy_loss.mini_batch': 16 });
    expect(split).toContain(', for 1 epoch in mini-batches of 16 episodes. ');
    expect(split).not.toContain('had no effect');
  });

  test('the methods paragraph describes the settings of an environment that have an effect', () => {
    const methods = (preset: string) =>
      methodsText(
        findPreset(preset).config,
        { name: 'a model', repository: null, license: null },
        { started: null, points: [], panels: [] },
      );
    expect(methods('starter-frozen-lake')).toContain('FrozenLake (size 4, ice probability 0.8, not slippery)');
    expect(methods('starter-frozen-lake-slippery')).toMatch(/, slippery, intended move probability 0\.33/);
    expect(methods('starter-webshop')).toContain(
      'WebShop (catalogue synthetic:1000:1, synthetic goals, wrapper compact, price seed 0)',
    );
  });

  test('a packed export is one file, deleted on forget', async () => {
    const { exportId, folder, names, read } = await make('parquet', { packed: true });
    expect(names).toHaveLength(1);
    const inside = await new Promise<string[]>((resolve, reject) =>
      fromBuffer(read(names[0]!), { lazyEntries: false }, (error, zip) => {
        if (error) return reject(error);
        const found: string[] = [];
        zip.on('entry', ({ fileName }) => found.push(fileName));
        zip.on('end', () => resolve(found));
      }),
    );
    expect(inside).toEqual(['episodes.parquet', 'tokens.parquet']);
    await core.exports.forget(exportId);
    expect(existsSync(folder)).toBe(false);
  });

  test.each<[string, ExportFormat]>([
    ['new-run', 'csv'],
    ['new-run', 'parquet'],
    ['new-run', 'tensorboard'],
  ])('exporting %s as %s reports missing data and leaves no files', async (id, format) => {
    const before = readdirSync(join(world.home, 'exports'));
    await expect(core.exports.make({ of: { runId: id }, format })).rejects.toMatchObject({
      code: 'export_unsuitable',
    });
    expect(readdirSync(join(world.home, 'exports'))).toEqual(before);
  });

  test('an export is a task that can be canceled', async () => {
    const before = readdirSync(join(world.home, 'exports'));
    const making = core.exports.make({ of: { runId }, format: 'parquet' });
    const [task] = core.tasks.list();
    expect(task).toMatchObject({ kind: 'export', runId, cancelable: true });
    const given = expect(making).rejects.toMatchObject({ code: 'task_canceled' });
    await core.tasks.cancel(task!.id);
    await given;
    expect(readdirSync(join(world.home, 'exports'))).toEqual(before);
  });

  test('an unknown sweep or an unsupported format starts no task', async () => {
    const studyId = await core.studies.create({
      ...{ name: 'Width', base: { preset: 'starter-bandit' }, set: {}, start: false },
      ...{ points: [{ name: 'narrow', set: {} }], seeds: [1] },
    });
    const published = collectNotices(core, 'task');
    const study = core.exports.make({ of: { studyId }, format: 'parquet' });
    await expect(study).rejects.toMatchObject({ code: 'export_unsuitable' });
    const unknown = core.exports.make({ of: { studyId: 'no-study' }, format: 'latex' });
    await expect(unknown).rejects.toMatchObject({ code: 'study_unknown' });
    expect(published).toEqual([]);
    expect(await core.exports.text({ of: { studyId }, format: 'markdown' })).toContain('narrow');
    expect(published[0]).toMatchObject({ kind: 'export', runId: null, title: 'Exporting Width as Markdown' });
  });
});

describe('escaping of external text', () => {
  test('no cell of a CSV file is a formula', () => {
    const cells = ['=HYPERLINK("http://x")', '+1', '-1', '@x', '\tx', 'a "b", c', 'plain', -1.5, null];
    expect(csvRow(cells)).toBe(`"'=HYPERLINK(""http://x"")",'+1,'-1,'@x,'\tx,"a ""b"", c",plain,-1.5,\n`);
  });

  test('Markdown and LaTeX contain no markup', () => {
    const hostile = 'a|b `c` <img src=x onerror=alert(1)> [x](javascript:1)\n# d \\input{/etc/passwd} 50% $x_1^2$ & ~';
    const inMarkdown = markdownText(hostile);
    expect(inMarkdown).not.toMatch(/<|\n|(?<!\\)[|`[\]#_$]/);
    const inLatex = latexText(hostile);
    expect(inLatex).not.toMatch(/\\input|(?<!\\)[%$#&_]|\||\n/);
    expect(latexText('a|b')).toBe('a\\textbar{}b');
    const study = studyTable({
      summary: {
        ...{ id: 'width', name: hostile, created: 0, base: 'b', environment: 'e' },
        ...{ points: [hostile], seeds: [1], state: 'completed' },
        runs: { total: 1, completed: 1, active: 0, failed: 0 },
      },
      table: [
        {
          ...{ name: hostile, set: { 'optimizer.learning_rate': 0.1 }, cells: [] },
          before: { n: 1, values: [0.25], mean: 0.25, low: null, high: null },
          after: { n: 3, values: [0.4, 0.5, 0.6], mean: 0.5, low: 0.4, high: 0.6 },
          training: null,
          collapse: null,
          panels: [{ label: 'e', hash: '1234567890' }],
        },
      ],
    });
    const lines = markdownTable(study).trim().split('\n');
    expect(lines).toHaveLength(5);
    expect(lines[0]).toContain('at least three seeds, on panel 12345678. Completed runs: 1 of 1.');
    expect(lines[4]).toContain('25.0 % (one run) | 50.0 % (40.0 % to 60.0 %, n = 3) | –');
    expect(latexTable(study)).toContain('50.0 \\% (40.0 \\% to 60.0 \\%, n = 3)');
  });
});

describe('the command and the file route', { timeout: 120_000 }, () => {
  let world: World;
  beforeAll(() => {
    world = new World();
    cpSync(realRun, join(world.home, 'runs', runId), { recursive: true });
  });
  afterAll(() => world.close());
  const run = (...args: string[]) => starpoHere(args, world.environment());

  test('starpo export writes to the given path, replaces nothing and leaves no temporary files', async () => {
    const out = join(world.folder, 'out');
    const { status, output, errors } = await run('export', 'real', '--as', 'csv', '--out', out);
    expect({ status, errors }).toEqual({ status: 2, errors: expect.stringContaining('run_unknown') });
    expect(output).toBe('');
    expect(await run('export', 'a-real', '--as', 'csv', '--out', out)).toMatchObject({
      status: 0,
      output: join(out, 'Sokoban-a-real-run-metrics.csv'),
    });
    const again = await run('export', 'a-real', '--as', 'csv', '--out', out);
    expect(again).toMatchObject({ status: 2, errors: expect.stringContaining('details: export_exists') });
    expect((await run('export', 'a-real', '--as', 'methods')).output).toContain('Sokoban');
    expect((await run('export', 'a-real', '--as', 'parquet')).errors).toContain('--out');
    expect(existsSync(join(world.home, 'exports'))).toBe(false);
  });

  test('output in a terminal replaces the progress line', async () => {
    const home = mkdtempSync(join(world.folder, 'home-'));
    cpSync(realRun, join(home, 'runs', runId), { recursive: true });
    const screen: string[] = [];
    const write = (text: string | Uint8Array) => screen.push(Buffer.from(text as string).toString()) > 0;
    vi.stubEnv('TERM', 'xterm');
    const { isTTY } = process.stderr;
    process.stderr.isTTY = true;
    const spies = [process.stdout, process.stderr].map((stream) => vi.spyOn(stream, 'write').mockImplementation(write));
    try {
      const out = join(world.folder, 'in-a-terminal');
      await exportRun(runId, { as: 'csv', out, home });
      await exportRun(runId, { as: 'csv', home });
      const shown = screen.join('');
      expect(shown).toContain(`Exporting ${runId}`);
      const [line, clear] = [`Exporting ${runId}`, '\r\u001b[2K'];
      expect(
        shown
          .split(line)
          .slice(1)
          .map((after) => after.startsWith(clear)),
      ).not.toContain(false);
      expect(screen).toContain(`${join(out, 'Sokoban-a-real-run-metrics.csv')}\n`);
      expect(screen.at(-1)).toMatch(/^iteration,/);
    } finally {
      for (const spy of spies) spy.mockRestore();
      process.stderr.isTTY = isTTY;
      vi.unstubAllEnvs();
    }
  });

  test('the event stream follows a run to its end', async () => {
    const out = join(world.folder, 'live');
    const host = starpo(['serve', '--port', '0'], world.environment({ FAKE_TRAINER_HOLD: '2' }));
    await host.line(/^StarPO Studio is at/);
    const training = starpo(['train', 'starter-bandit', '--set', 'iterations=3'], world.environment());
    const [, id] = await training.line(/^run (\S+)$/);
    await training.line(/^iteration 2\//);
    const args = ['export', id!, '--as', 'tensorboard', '--live', '--out', out];
    const live = starpo(args, world.environment());
    await live.line(/^tensorboard --logdir/);
    await training.kill('SIGINT');
    await training.finished;
    expect((await live.finished).status).toBe(0);
    const [name] = readdirSync(join(out, id!));
    const steps = readEvents(readFileSync(join(out, id!, name!))).map(({ step }) => step);
    expect(steps).toEqual(expect.arrayContaining([0, 1, 2]));
    await host.kill('SIGTERM');
  });

  test('after resuming from a checkpoint, TensorBoard drops the repeated steps', async () => {
    const other = new World();
    const again = { checkpoint: 'checkpoints/000001', iteration: 1 };
    const points = [journal.iteration(1, 1), journal.iteration(2, 2), journal.iteration(3, 3)];
    const lines = [journal.started(0), ...points, journal.started(4, again), journal.iteration(5, 2, 0.9)];
    other.run('resumed', lines);
    const client = createClient(await (await other.studio()).open());
    await client.call('history.ready', {});
    const out = join(other.folder, 'log');
    const problems: unknown[] = [];
    const log = new TensorBoardLog(out, (error) => problems.push(error));
    log.follow(client, 'resumed');
    await log.catchUp(client, 'resumed');
    log.close();
    const [name] = readdirSync(join(out, 'resumed'));
    const events = readEvents(readFileSync(join(out, 'resumed', name!)));
    expect(events.map(({ step, restart }) => [step, restart])).toEqual([
      ...[0, 1, 2, 3].map((step) => [step, null]),
      [2, 1],
      [2, null],
    ]);
    expect(problems).toEqual([]);
    const made = await client.call('exports.make', { of: { runId: 'resumed' }, format: 'jsonl' });
    const rows = readFileSync(join(made.folder, made.files[0]!.name), 'utf8').trim().split('\n');
    expect(rows.map((line) => JSON.parse(line).metrics['rollout/success_rate'])).toEqual([0.1, 0.9]);
    await other.close();
  });

  test('serve --tensorboard exports every active run', async () => {
    const out = join(world.folder, 'board');
    const serve = starpo(['serve', '--port', '0', '--tensorboard', out], world.environment());
    await serve.line(/^tensorboard --logdir/);
    const trained = await run('train', 'starter-bandit', '--set', 'iterations=2', '--set', 'rollout.groups=1');
    const [, id] = /^run (\S+)$/m.exec(trained.output)!;
    await serve.kill('SIGTERM');
    const [name] = readdirSync(join(out, id!));
    const steps = readEvents(readFileSync(join(out, id!, name!))).map(({ step }) => step);
    expect(steps).toEqual(expect.arrayContaining([0, 1, 2]));
  });

  test('exports without a download expire', async () => {
    const other = new World();
    const { home, resources, runs, studies, tasks } = await other.core();
    const exports = new Exports({ home, resources, runs, studies, tasks, lifetime: 1 });
    const { folder } = await exports.add('left.txt', (path) => writeFile(path, 'x'));
    await expect.poll(() => existsSync(folder)).toBe(false);
    await other.close();
  });

  test('only the signed-in browser gets the file, and no other file', async () => {
    const other = new World();
    other.run('some-run', [journal.started(0), journal.iteration(1, 1)]);
    const studio = await other.studio();
    const core = await studio.open();
    const client = createClient(core);
    const { exportId, files } = await client.call('exports.make', {
      of: { runId: 'some-run' },
      format: 'csv',
      packed: true,
    });
    const host = await studio.endpoint();
    const code = new URL(host.address).hash.slice('#sign-in='.length);
    const get = (path: string, authorization = `Bearer ${code}`) =>
      rawRequest(host.origin, `/api/exports/${path}`, { Authorization: authorization });
    const answer = await get(`${exportId}/${files[0]!.name}`);
    expect(answer).toMatchObject({ status: 200, headers: { 'content-disposition': 'attachment' } });
    expect(answer.body).toMatch(/^iteration,time,/);
    expect((await get(`${exportId}/${files[0]!.name}`, '')).status).toBe(401);
    const follow = (link: string) => rawRequest(host.origin, link);
    const path = `/api/exports/${exportId}/${files[0]!.name}`;
    const link = await linkTo(code, path);
    for (const other of [
      link.replace('metrics', 'other'),
      link.replace(/until=\d/, 'until=2'),
      await linkTo(code, path, Date.now() - 1),
      await linkTo(code, path, Date.now() + 10 * linkLifetime),
      await linkTo('0'.repeat(32), path),
    ])
      expect((await follow(other)).status).toBe(401);
    mkdirSync(join(other.home, 'exports/secret'), { recursive: true });
    writeFileSync(join(other.home, 'exports/secret/file'), 'secret');
    for (const path of [`${exportId}/../../token`, `${exportId}/..%2f..%2ftoken`, 'secret/file', exportId, ''])
      expect((await get(path)).status).toBe(404);
    // A link works once, then the export is deleted.
    expect(await follow(link)).toMatchObject({ status: 200, body: answer.body });
    await expect.poll(async () => (await follow(link)).status).toBe(404);
    await client.call('exports.forget', { exportId });
    expect((await get(`${exportId}/${files[0]!.name}`)).status).toBe(404);
    await other.close();
  });
});
