import { execFile, spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, expect, test } from 'vitest';
import { findPreset } from '../../core/presets/presets.ts';
import description from '../../core/run-config/description.json' with { type: 'json' };
import type { Field } from '../../core/run-config/schema.ts';
import { applySettings, type Setting } from '../../core/run-config/settings.ts';
import { locate, type Tree } from '../../core/run-config/tree.ts';
import { bases, correctionEffects, type Effect, effects, exceptions, untrained } from './option-effects.ts';
import { type Outputs, outputsOf } from './run-outputs.ts';
import { trainTinyPolicy } from './tiny-run.ts';
import { temporaryHome, trainer } from './trainer-process.ts';

const home = temporaryHome();
let model: string;
beforeAll(async () => {
  model = await trainTinyPolicy(home);
});

/** All options, also those of environments, such as `bandit.lo_arm_name`. */
const fields = new Map<string, Field>([
  ...description.fields.map((field) => [field.path, field] as const),
  ...Object.entries(description.environments).flatMap(([type, own]) =>
    own.map((field) => [`${type}.${field.path}`, field] as const),
  ),
]);
const started = new Map<string, Promise<Outputs>>();

/** Runs a configuration once. */
function run(config: object): Promise<Outputs> {
  const key = JSON.stringify(config);
  const outputs = started.get(key) ?? train(config, join(home, String(started.size)));
  started.set(key, outputs);
  return outputs;
}

async function train(config: object, folder: string): Promise<Outputs> {
  mkdirSync(folder);
  writeFileSync(join(folder, 'run.json'), JSON.stringify(config));
  try {
    await promisify(execFile)(trainer, ['train', folder]);
    return { ...outputsOf(folder), error: null };
  } catch (error) {
    return { error: (error as { stderr?: string }).stderr || String(error) };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test('every option has an effect, or an exception', () => {
  const listed = [effects, correctionEffects, exceptions].flatMap((each) => Object.keys(each));
  expect(listed.sort()).toEqual([...fields.keys()].sort());
});

test('options of corrections change importance weights', () => {
  const sequences = [
    { logprobs: [-0.5, -1], old_logprobs: [-0.5, -1], rollout_logprobs: [-0.6, -2], advantages: [1, -1] },
    { logprobs: [-0.8, -1], old_logprobs: [-0.8, -1], rollout_logprobs: [-0.3, -1], advantages: [1, -1] },
  ];
  const requests = Object.entries(correctionEffects).flatMap(([path, { with: correction, value }]) =>
    [{}, { [path.split('.')[1]!]: value }].map((changed) =>
      JSON.stringify({ policy_loss: {}, correction: { ...correction, ...changed }, sequences }),
    ),
  );
  const { stdout, stderr } = spawnSync(trainer, ['compute'], { input: `${requests.join('\n')}\n`, encoding: 'utf8' });
  expect(stderr).toBe('');
  const weights = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line).correction.weights);
  for (const [index, path] of Object.keys(correctionEffects).entries())
    expect(weights[2 * index], path).not.toEqual(weights[2 * index + 1]);
});

test.concurrent.for(Object.entries(effects))('%s', async ([path, effect]) => {
  const { preset, set, ...base } = bases[effect.base ?? 'lake'];
  const { config } = findPreset(preset);
  const environments = 'environment' in base ? [config.environments[base.environment]!] : config.environments;
  const before = applySettings({ ...config, environments }, { 'start.model': model, ...set, ...effect.with });
  const [type = ''] = path.split('.');
  const ofEnvironment = Object.hasOwn(description.environments, type);
  const own = ofEnvironment ? path.replace(type, 'environments.0.config') : path.replace('[]', '.0');
  const { parent, key } = locate(before as unknown as Tree, own)!;
  const values = otherValues(fields.get(path)!, parent[key] as Setting, effect);
  const output = async (config: object) => {
    const outputs = await run(config);
    if (effect.output !== 'error') expect(outputs.error).toBeNull();
    return outputs[effect.output];
  };
  const outputs = new Map([[JSON.stringify(await output(before)), parent[key]]]);
  for (const value of values) {
    const after = JSON.stringify(
      await output(applySettings(before, { [own]: value, ...effect.needs?.[String(value)] })),
    );
    expect(outputs.get(after), `the value with the same output as ${value}`).toBe(effect.alike?.[String(value)]);
    outputs.set(after, outputs.get(after) ?? value);
  }
});

function otherValues(field: Field, current: Setting, { value, except = [] }: Effect): Setting[] {
  if (value !== undefined) return [value === untrained ? join(model, '../000000') : value];
  if (field.type === 'boolean') return [!current];
  if (field.type === 'choice') return field.choices!.filter((each) => each !== current && !except.includes(each));
  if (field.type === 'integer') return [Number(current) + 1];
  if (field.type === 'number') return [current === 0 ? 0.5 : Number(current) / 2];
  throw new Error(`${field.path} needs a value`);
}
