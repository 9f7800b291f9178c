import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { Failure } from '../../core/contract/failure.ts';
import { findPreset, presets } from '../../core/presets/presets.ts';
import { findField } from '../../core/run-config/schema.ts';
import { applySettings, parseSettings } from '../../core/run-config/settings.ts';
import { keyPaths, locate, type Tree } from '../../core/run-config/tree.ts';
import { configVersion } from '../../core/run-config/upgrade.ts';
import { validateConfig } from '../../core/run-config/validate.ts';
import { root } from './fixtures/world.ts';

const example = JSON.parse(readFileSync(join(root, 'docs/formats/examples/run.json'), 'utf8'));
const starter = findPreset('starter-frozen-lake').config;

function failureOf(action: () => unknown): Failure {
  try {
    action();
  } catch (error) {
    if (error instanceof Failure) return error;
    throw error;
  }
  throw new Error('No error was thrown.');
}

const changed = (path: string, value: unknown) => {
  const copy = structuredClone(example);
  const { parent, key } = locate(copy, path)!;
  parent[key] = value;
  return copy;
};

describe('the schema', () => {
  test('accepts the documented example unchanged', () => {
    expect(validateConfig(example)).toEqual(example);
  });

  test.each(keyPaths(example))('requires %s', (path) => {
    const copy = structuredClone(example);
    const { parent, key } = locate(copy, path)!;
    delete parent[key];
    const { code, message } = failureOf(() => validateConfig(copy));
    expect(code).toBe('config_invalid');
    expect(message).toContain(path);
  });

  test.each([
    ['iterations', Number.NaN],
    ['device', 'tpu'],
    ['start.sha256', 'abc'],
    ['rollout_files.keep_last', -1],
    ['storage.budget_gigabytes', -1],
    ['environments.0.type', 'chess'],
    ['rollout.temperature', 0],
    ['reward.format_penalty', 0.1],
    ['optimizer.epsilon', 0],
    ['optimizer.micro_batch_tokens', -1],
    ['advantage.lambda', 1.1],
    ['critic.model', 'half'],
    ['kl.coefficient', -1],
    ['kl.placement', 'advantage'],
  ])('rejects %s = %j and names it', (path, value) => {
    const { code, message, hint } = failureOf(() => validateConfig(changed(path, value)));
    expect(code).toBe('config_invalid');
    expect(message).toContain(path);
    expect(hint).not.toBe('');
  });

  test.each([
    ['iterations', 0, 'iterations must be 1 or more'],
    ['iterations', 1.5, 'iterations must be a whole number'],
    ['iterations', '20', 'iterations must be a whole number'],
    ['seed', 2 ** 32, 'seed must be 4294967295 or less'],
    ['rollout.think', 'yes', 'rollout.think must be true or false'],
    [
      'advantage.estimator',
      'a2c',
      'advantage.estimator must be grpo, dr_grpo, rloo, loop, maxrl, gigpo, hgpo, reinforce_plus_plus, gae, bi_level_gae, trajectory_baseline or turn_baseline',
    ],
    ['environments', [], 'environments must have a length of 1 or more'],
    ['environments', {}, 'environments must be a list'],
    ['environments.0.config.size', 1, 'environments.0.config.size must be 2 or more'],
    [
      'environments.0.label',
      'Frozen Lake',
      'environments.0.label must be 1 to 32 lowercase letters, digits or hyphens',
    ],
    ['device', 'gpu', 'device must be auto, cpu, cuda or cuda:N'],
    ['preset', 'A', 'preset must be 1 to 64 lowercase letters, digits, dots or hyphens'],
    ['start.sha256', 'x', 'start.sha256 must be 64 hexadecimal digits in lowercase or empty'],
    ['parent.run', 'A', 'parent.run must be a run id (up to 64 lowercase letters, digits or hyphens) or empty'],
    ['start.model', '', 'start.model must not be empty'],
    ['automatic_action', 'panic', 'automatic_action must be notify, pause, stop or rollback'],
    ['diagnostics.every', -1, 'diagnostics.every must be 0 or more'],
    ['diagnostics.samples', 1, 'diagnostics.samples must be 2 or more'],
  ])('describes the valid values for %s = %j', (path, value, message) => {
    const failure = failureOf(() => validateConfig(changed(path, value)));
    expect(failure).toMatchObject({ code: 'config_invalid', message: `${message}.`, hint: expect.stringMatching(/./) });
  });

  test('reports the number of problems', () => {
    const { message } = failureOf(() => validateConfig({ ...example, seed: -1, iterations: 0, filter: 1 }));
    expect(message).toBe('seed must be 0 or more (and 2 more problems).');
    const unknown = failureOf(() => validateConfig({ ...example, one: 1, two: 2, three: 3 }));
    expect(unknown.message).toBe('one is not a setting (and 2 more problems).');
  });

  test('recognizes the output of `starpo import-ragen`', () => {
    const { message, hint } = failureOf(() => validateConfig({ config: example, notes: [] }));
    expect(message).toMatch(/^version is missing/);
    expect(hint).toMatch(/`starpo import-ragen`\. Use only the object in its key `config`\.$/);
  });

  test('rejects an unknown key and suggests the most similar one', () => {
    const failure = failureOf(() => validateConfig({ ...example, rollout: { ...example.rollout, tempreature: 1 } }));
    expect(failure.message).toContain('rollout.tempreature');
    expect(failure.hint).toContain('rollout.temperature');
  });

  const sokoban = {
    dim_x: 6,
    dim_y: 6,
    num_boxes: 1,
    max_steps: 100,
    search_depth: 300,
    grid_lookup: { 0: '#', 1: '_', 2: 'O', 3: '√', 4: 'X', 5: 'P', 6: 'S' },
  };
  const asSokoban = (change: object) =>
    changed('environments.0', {
      ...example.environments[0],
      type: 'sokoban',
      config: { ...sokoban, ...change },
    });

  test('accepts Sokoban', () => {
    expect(validateConfig(asSokoban({})).environments[0]!.config).toEqual(sokoban);
  });

  test.each([
    ['num_boxes', { num_boxes: 17 }],
    ['dim_x', { dim_x: 4 }],
    ['grid_lookup.1', { grid_lookup: { ...sokoban.grid_lookup, 1: '' } }],
    ['grid_lookup.7', { grid_lookup: { ...sokoban.grid_lookup, 7: 'Z' } }],
    ['grid_lookup.3', { grid_lookup: { ...sokoban.grid_lookup, 3: undefined } }],
  ])('rejects Sokoban with an invalid %s', (path, change) => {
    const { code, message } = failureOf(() => validateConfig(asSokoban(change)));
    expect(code).toBe('config_invalid');
    expect(message).toContain(`environments.0.config.${path}`);
  });

  test('rejects a newer version with its own error code', () => {
    expect(failureOf(() => validateConfig({ version: configVersion + 1, future: true })).code).toBe(
      'config_version_unsupported',
    );
  });

  test.each([null, 3, 'text', []])('rejects %j', (value) => {
    expect(failureOf(() => validateConfig(value)).code).toBe('config_invalid');
  });
});

describe('presets', () => {
  test.each(presets.map((preset) => [preset.id, preset.config] as const))('%s is valid', (id, config) => {
    expect(validateConfig(config)).toEqual(config);
    expect(config.preset).toBe(id);
  });

  test('names are unique, and short names refer to the recommended algorithm', () => {
    const names = presets.flatMap(({ id, alias }) => (alias ? [id, alias] : [id]));
    expect(new Set(names).size).toBe(names.length);
    for (const alias of ['starter-frozen-lake', 'starter-frozen-lake-slippery', 'starter-sokoban'])
      expect(findPreset(alias).id).toBe(`${alias}-grpo-s`);
    for (const alias of ['starter-bandit', 'starter-webshop', 'qwen2.5-0.5b-sokoban'])
      expect(findPreset(alias).id).toBe(`${alias}-starpo-s`);
  });

  test.each(['starpo-s', 'grpo-s'])('%s filters groups and clips higher, without KL', (suffix) => {
    const { filter, policy_loss, kl } = findPreset(`starter-frozen-lake-${suffix}`).config;
    expect(filter.strategy).toBe('fraction');
    expect(policy_loss.clip_high).toBeGreaterThan(policy_loss.clip_low);
    expect(kl.coefficient).toBe(0);
  });

  test.each(['ppo', 'grpo'])('plain %s neither filters groups nor clips higher', (suffix) => {
    const { filter, policy_loss } = findPreset(`starter-frozen-lake-${suffix}`).config;
    expect(filter.strategy).toBe('none');
    expect(policy_loss.clip_high).toBe(policy_loss.clip_low);
  });

  test.each([
    ['starpo-s', 'full', 0],
    ['ppo', 'full', 0.001],
    ['grpo-s', 'none', 0],
    ['grpo', 'none', 0],
  ])('%s has the critic %s and the KL coefficient %d', (suffix, model, coefficient) => {
    const { advantage, critic, kl } = findPreset(`starter-frozen-lake-${suffix}`).config;
    expect(critic.model).toBe(model);
    expect(advantage.estimator).toBe(model === 'none' ? 'grpo' : 'gae');
    expect(kl.coefficient).toBe(coefficient);
  });

  test('with a clip range per turn clip early turns more tightly than StarPO-S and late turns less', () => {
    const { advantage, critic, filter, kl, policy_loss } = findPreset('starter-sokoban-starpo-s-turn-clip').config;
    const starpoS = findPreset('starter-sokoban-starpo-s').config;
    expect([advantage.estimator, critic.model, filter, kl]).toEqual([
      ...['trajectory_baseline', 'head'],
      ...[starpoS.filter, starpoS.kl],
    ]);
    for (const side of ['clip_low', 'clip_high'] as const) {
      const ranges = [1, 2, 3, 4, 5].map((turn) => policy_loss[side] * policy_loss.clip_turn_factor ** (turn - 1));
      const usual = starpoS.policy_loss[side];
      expect(ranges.map((range) => range > usual)).toEqual([false, false, true, true, true]);
      expect(ranges[2]! / usual).toBeCloseTo(1.08, 2);
    }
  });

  test('are named by docs/algorithms.md for each option that they have', () => {
    const page = readFileSync(new URL('../../docs/algorithms.md', import.meta.url), 'utf8');
    const shown = presets.filter(({ hidden }) => !hidden);
    const codes = (text: string) => [...text.matchAll(/`([^`]+)`/g)].map(([, code]) => code!);
    /** Returns the presets that match a cell such as "all but `*-ppo`, `*-grpo`". */
    const namedBy = (cell: string) => {
      const endings = codes(cell).map((pattern) => pattern.slice(1));
      const all = cell.startsWith('all');
      return shown.flatMap(({ id }) => (endings.some((ending) => id.endsWith(ending)) === all ? [] : [id]));
    };
    const tables = page.matchAll(/^\| `([a-z_.]+)` \|.* preset \|\n\|[-|]+\n((?:\|.*\n)+)/gm);
    const options = [...tables].flatMap(([, path, rows]) =>
      rows!
        .trim()
        .split('\n')
        .flatMap((row) => {
          const cells = row.split('|').slice(1, -1);
          return codes(cells[0]!).map((value) => ({ path: path!, value, cell: cells.at(-1)!.trim() }));
        }),
    );
    expect([...new Set(options.map(({ path }) => path))]).toEqual([
      ...['advantage.estimator', 'reward.normalization', 'filter.strategy', 'policy_loss.ratio_level'],
      ...['policy_loss.objective', 'policy_loss.average', 'correction.weights'],
    ]);
    for (const { path, value, cell } of options) {
      const users = shown.filter(({ config }) => {
        const { parent, key } = locate(config as unknown as Tree, path)!;
        return parent[key] === value;
      });
      expect(namedBy(cell), `${path} ${value}`).toEqual(users.map(({ id }) => id));
    }
    for (const path of new Set(options.map((option) => option.path)))
      expect(options.flatMap((option) => (option.path === path ? option.value : [])).sort()).toEqual(
        [...findField(path.split('.'), {})!.choices!].sort(),
      );
  });

  test('an unknown name is rejected with a suggestion', () => {
    const { code, hint } = failureOf(() => findPreset('starter-frozen-lak'));
    expect(code).toBe('preset_unknown');
    expect(hint).toContain('starter-frozen-lake');
  });
});

describe('settings', () => {
  test.each([
    ['iterations', '20', 20],
    ['iterations', 20, 20],
    ['optimizer.learning_rate', '3e-4', 3e-4],
    ['environments.0.share', '0.5', 0.5],
    ['environments.frozen-lake.config.is_slippery', 'true', true],
    ['environments.0.validate', false, false],
    ['environments.0.prompt.system', 'a=b', 'a=b'],
    ['advantage.estimator', 'rloo', 'rloo'],
    ['filter', '{"strategy":"none","keep":1}', { strategy: 'none', keep: 1 }],
  ])('%s=%j', (path, text, value) => {
    const settings = typeof text === 'string' ? parseSettings([`${path}=${text}`]) : { [path]: text };
    const result = applySettings(starter, settings) as unknown as Tree;
    const { parent, key } = locate(result, path)!;
    expect(parent[key]).toEqual(value);
  });

  test('are applied to a copy', () => {
    const before = structuredClone(starter);
    applySettings(starter, { 'environments.0.config.size': 8 });
    expect(starter).toEqual(before);
  });

  test.each([
    ['iterations', 'many', 'a number'],
    ['iterations', '', 'a number'],
    ['iterations', true, 'a number'],
    ['rollout.think', '1', 'true or false'],
    ['filter', 'none', 'JSON'],
    ['environments', '{}', 'JSON'],
  ])('%s=%j is rejected', (path, value, expected) => {
    const { code, message } = failureOf(() => applySettings(starter, { [path]: value }));
    expect(code).toBe('config_invalid');
    expect(message).toContain(path);
    expect(message).toContain(expected);
  });

  test.each([
    ['learning_rate', 'optimizer.learning_rate'],
    ['rollout.group', 'rollout.groups'],
    ['iteration', 'iterations'],
    ['environments.0.config.slippery', 'environments.0.config.is_slippery'],
  ])('%s is unknown; did you mean %s?', (path, proposal) => {
    const { code, hint } = failureOf(() => applySettings(starter, { [path]: 1 }));
    expect(code).toBe('config_invalid');
    expect(hint).toContain(proposal);
  });

  test.each(['__proto__.polluted', 'constructor', 'rollout.__proto__.x', 'environments.9.share', 'iterations.0'])(
    '%s does not name a setting',
    (path) => {
      expect(failureOf(() => applySettings(starter, { [path]: 1 })).code).toBe('config_invalid');
      expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
    },
  );

  test('text without = is rejected', () => {
    expect(failureOf(() => parseSettings(['iterations'])).code).toBe('config_invalid');
  });
});
