import { mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Failure } from '../../core/contract/failure.ts';
import { mayShareDevice } from '../../core/contract/run-facts.ts';
import { inspectModel } from '../../core/models/inspect.ts';
import { deviceBytes, deviceMemoryParts, totalBytes } from '../../core/presets/device-memory.ts';
import { downloadCommand, findPublishedModel, modelFolder } from '../../core/presets/find.ts';
import { findPreset } from '../../core/presets/presets.ts';
import { parameterCount, publishedModel, publishedModels } from '../../core/presets/published.ts';
import { publishedPresets } from '../../core/presets/published-presets.ts';
import type { RunConfig } from '../../core/run-config/schema.ts';
import { createRun } from '../../core/runs/create-run.ts';

const small = publishedModel('Qwen2.5-0.5B-Instruct');
const preset = 'qwen2.5-0.5b-sokoban';

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'starpo-models-'));
  mkdirSync(join(home, 'runs'));
});
afterEach(() => rmSync(home, { recursive: true }));

const revisions = () => join(home, 'hugging-face/hub/models--Qwen--Qwen2.5-0.5B-Instruct/snapshots');

function putModel(folder: string): string {
  mkdirSync(folder, { recursive: true });
  for (const file of ['config.json', 'tokenizer.json', 'model.safetensors']) writeFileSync(join(folder, file), '{}');
  return folder;
}

async function failureOf(action: () => unknown): Promise<Failure> {
  try {
    await action();
  } catch (error) {
    if (error instanceof Failure) return error;
    throw error;
  }
  throw new Error('It was accepted.');
}

describe('a published model', () => {
  test('has the published number of parameters', () => {
    expect(publishedModels.map(({ shape }) => parameterCount(shape))).toEqual([
      494_032_768, 1_543_714_304, 3_085_938_688,
    ]);
  });

  test('is found in the data folder, otherwise in the Hugging Face cache', async () => {
    const environment = { HF_HOME: join(home, 'hugging-face') };
    const missing = await failureOf(() => findPublishedModel(home, small, environment));
    expect(missing.code).toBe('model_missing');
    expect(missing.message).toContain(join(home, 'hugging-face/hub'));
    expect(missing.hint).toContain(`hf download Qwen/${small.name} --local-dir ${modelFolder(home, small)}`);

    const cached = putModel(join(revisions(), 'a1'));
    expect(findPublishedModel(home, small, environment)).toBe(cached);
    const own = putModel(modelFolder(home, small));
    expect(findPublishedModel(home, small, environment)).toBe(own);
  });

  test.each([
    { HF_HUB_CACHE: '~/hugging-face/hub' },
    { HUGGINGFACE_HUB_CACHE: '$HOME/hugging-face/hub', HF_HOME: '/elsewhere' },
    { HF_HOME: '$HOME/hugging-face' },
    { HF_HUB_CACHE: '~/hugging-face/hub', HUGGINGFACE_HUB_CACHE: '/elsewhere' },
  ])('is found in the cache of %o', (variables) => {
    const cached = putModel(join(revisions(), 'a1'));
    expect(findPublishedModel(home, small, { HOME: home, ...variables })).toBe(cached);
  });

  test('is the revision of main in the cache, unless only another one is complete', () => {
    const environment = { HF_HOME: join(home, 'hugging-face') };
    const main = putModel(join(revisions(), 'a1'));
    utimesSync(main, 1000, 1000);
    const newest = putModel(join(revisions(), 'b2'));
    expect(findPublishedModel(home, small, environment)).toBe(newest);
    mkdirSync(join(revisions(), '../refs'));
    writeFileSync(join(revisions(), '../refs/main'), 'a1\n');
    expect(findPublishedModel(home, small, environment)).toBe(main);
    // A download of the tokenizer alone leaves such a revision.
    rmSync(join(main, 'model.safetensors'));
    expect(findPublishedModel(home, small, environment)).toBe(newest);
    rmSync(join(newest, 'tokenizer.json'));
    expect(findPublishedModel(home, small, environment)).toBe(main);
  });

  test('has a download command that quotes the data folder for the shell', () => {
    expect(downloadCommand("/home/o'neil data", small)).toContain("'/home/o'\\''neil data/models/");
  });

  test('is inspected by the trainer, whose problem is returned', async () => {
    const inspected: string[] = [];
    const withProblem = (problem: Error | null) => ({
      home,
      trainer: {
        inspect: async (folder: string) => {
          inspected.push(folder);
          if (problem) throw problem;
          return { parameters: 494_032_768 };
        },
      },
    });
    const missing = await inspectModel(withProblem(null), small.name, join(home, 'nothing'));
    expect(missing).toMatchObject({ folder: null, parameters: null, problem: { code: 'model_missing' } });
    expect(inspected).toEqual([]);
    const own = putModel(modelFolder(home, small));
    expect(await inspectModel(withProblem(null), small.name)).toMatchObject({
      folder: own,
      parameters: 494_032_768,
      problem: null,
    });
    const bad = new Failure('model_unsupported', 'model_type is "llama"', 'Use a Qwen2 model.');
    expect(await inspectModel(withProblem(bad), small.name, own)).toMatchObject({
      folder: own,
      problem: bad.toApiError(),
    });
    expect((await failureOf(() => inspectModel(withProblem(null), 'Qwen3'))).code).toBe('model_unknown');
  });
});

describe('a run of a published model', () => {
  const parts = (validate: () => Promise<{ warnings: []; idle: [] }>) => ({
    home,
    resources: join(home, 'resources'),
    trainer: { validate },
  });
  const fine = async () => ({ warnings: [] as [], idle: [] as [] });

  test('starts from the found or the given folder', async () => {
    const own = putModel(modelFolder(home, small));
    const elsewhere = putModel(join(home, 'elsewhere'));
    const modelOf = async (set: Record<string, string>) => {
      const id = await createRun(parts(fine), { preset, set });
      return JSON.parse(readFileSync(join(home, 'runs', id, 'run.json'), 'utf8')).start;
    };
    expect(await modelOf({})).toMatchObject({ model: own, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) });
    expect(await modelOf({ 'start.model': elsewhere })).toMatchObject({ model: elsewhere });
  });

  test("has the digests of its environments' files", async () => {
    putModel(modelFolder(home, small));
    const validate = async () => ({ ...(await fine()), filesSha256: ['c'.repeat(64)] });
    const id = await createRun(parts(validate), { preset });
    const [environment] = JSON.parse(readFileSync(join(home, 'runs', id, 'run.json'), 'utf8')).environments;
    expect(environment.files_sha256).toBe('c'.repeat(64));
  });

  test('is not created from a folder that the trainer rejects, but is created without a trainer', async () => {
    putModel(modelFolder(home, small));
    const rejectsWith = (code: string) => async () => {
      throw new Failure(code, 'No.', 'Another.');
    };
    const failure = await failureOf(() => createRun(parts(rejectsWith('model_unsupported')), { preset }));
    expect(failure.code).toBe('model_unsupported');
    expect(await createRun(parts(rejectsWith('trainer_missing')), { preset })).toMatch(/^qwen2-5-0-5b-sokoban/);
  });
});

describe('presets of published models', () => {
  test("follow RAGEN's default configuration", () => {
    const { config } = findPreset(preset);
    expect(config).toMatchObject({
      device: 'cuda',
      precision: 'bf16',
      iterations: 200,
      rollout: { groups: 8, group_size: 16, max_response_tokens: 400, temperature: 1 },
      filter: { strategy: 'fraction', keep: 0.25 },
      policy_loss: {
        clip_low: 0.2,
        clip_high: 0.28,
        dual_clip: 3,
        entropy_coefficient: 0.001,
        mini_batch: 32,
      },
      optimizer: { learning_rate: 1e-6 },
      critic: { model: 'full', learning_rate: 1e-5 },
      reward: { format_penalty: -0.1 },
    });
    const [environment] = config.environments;
    expect(environment).toMatchObject({ max_turns: 5, max_actions_per_turn: 5, max_actions: 10 });
  });

  test('state the rules, the state and the response format in the prompt', () => {
    for (const { config } of publishedPresets) {
      const { first, system } = config.environments[0]!.prompt;
      expect(system).not.toBe('');
      expect(first).toMatch(/\{state\}|\{arm_1\}/);
      expect(first).toContain('<think>');
      expect(first).toContain('</think><answer>');
    }
  });

  test('BanditRev gives the risky arm a cautious name, evaluates unseen names and lists its requirements', () => {
    const { summary, expects, config } = findPreset('qwen2.5-0.5b-bandit-inverted');
    expect(
      config.environments.map(({ config: { lo_arm_name, hi_arm_name }, share, validate }) => ({
        ...{ lo_arm_name, hi_arm_name, share, validate },
      })),
    ).toEqual([
      { lo_arm_name: 'Engineer', hi_arm_name: 'Teacher', share: 1, validate: true },
      { lo_arm_name: 'Trader', hi_arm_name: 'Librarian', share: 0, validate: true },
    ]);
    expect(summary).toContain('Needs a model that knows words');
    expect(expects).toBe('68 % on unseen names (paper)');
  });

  test('describe the ice as configured', () => {
    const descriptionOf = (task: string) => {
      const preset = publishedPresets.find((each) => each.family.endsWith(task))!;
      const { config, prompt } = preset.config.environments[0]!;
      return { config, words: `${preset.summary}\n${prompt.system}\n${prompt.first}` };
    };
    const still = descriptionOf('-frozen-lake');
    expect(still.config).toMatchObject({ is_slippery: false });
    expect(still.words).toMatch(/Moves never slip\.[\s\S]*does not slip/);
    expect(still.words).not.toMatch(/slippery/);
    const slippery = descriptionOf('-frozen-lake-slippery');
    expect(slippery.config).toMatchObject({ is_slippery: true, success_rate: 1 / 3 });
    expect(slippery.words).toMatch(/only one move of three goes where it is meant to/);
  });

  test('estimate GPU memory: more with a critic, less with recomputation', () => {
    const base = findPreset(preset).config;
    const config = { ...base, optimizer: { ...base.optimizer, micro_batch_tokens: 16_384 } };
    const bytes = (changes: object) => totalBytes(deviceMemoryParts({ ...config, ...changes }, small.shape));
    const alone = bytes({ critic: { ...config.critic, model: 'none' } });
    expect(bytes({}) - alone).toBe(18.125 * parameterCount(small.shape));
    const recompute = (level: string) => bytes({ optimizer: { ...config.optimizer, recompute: level } });
    expect(recompute('block')).toBeLessThan(recompute('elementwise'));
    expect(recompute('elementwise')).toBeLessThan(recompute('none'));
    // Rollout and update share memory, so a larger cache costs nothing until it exceeds the update.
    expect(bytes({ rollout: { ...config.rollout, slots: 64 } })).toBe(bytes({}));
    for (const each of publishedPresets) expect(each.deviceBytes).toBeGreaterThan(5e9);
    // The figures of the README, the card, the form and the list of models.
    expect(Math.ceil(deviceBytes(base, small.shape) / 1e9)).toBe(27);
    expect(findPreset(preset).deviceBytes).toBe(deviceBytes(base, small.shape));
  });
});

test("the estimated GPU memory is within two percent of the trainer's plan", () => {
  const file = join(import.meta.dirname, '../../native/tests/vectors/memory-plans.json');
  const { config } = findPreset(preset);
  for (const plan of JSON.parse(readFileSync(file, 'utf8')).plans) {
    const planned: RunConfig = {
      ...config,
      critic: { ...config.critic, model: plan.critic ? 'full' : 'none' },
      kl: { ...config.kl, coefficient: plan.reference ? 0.001 : 0 },
      diagnostics: { ...config.diagnostics, every: plan.start ? 5 : 0 },
      rollout: { ...config.rollout, slots: plan.slots, groups: plan.groups, context: plan.context },
      optimizer: {
        ...config.optimizer,
        micro_batch_tokens: plan.micro_batch_tokens,
        recompute: plan.recompute,
      },
    };
    const parts = deviceMemoryParts(planned, plan.shape);
    expect(parts.map(({ name }) => name).sort()).toEqual(Object.keys(plan.parts).sort());
    const error = totalBytes(parts) / plan.total_bytes - 1;
    expect(Math.abs(error), `${plan.model}: ${error}`).toBeLessThan(0.02);
    for (const { name, bytes } of parts)
      expect(Math.abs(bytes / plan.parts[name] - 1), `${plan.model}: ${name}`).toBeLessThan(0.1);
  }
});

test.each([
  ['cpu', 'cpu', true],
  ['cpu', 'cuda', false],
  ['cpu', 'cuda:0', false],
  ['cuda:0', 'cuda:1', false],
  ['cuda:0', 'cuda:0', true],
  ['cuda', 'cuda:1', true],
  ['auto', 'cpu', true],
  ['auto', 'cuda:1', true],
])('runs on %s and on %s may share a device: %s', (a, b, share) => {
  expect(mayShareDevice(a, b)).toBe(share);
  expect(mayShareDevice(b, a)).toBe(share);
});
