import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { asFailure } from '../../core/contract/failure.ts';
import { applySettings } from '../../core/run-config/settings.ts';
import { upgradeConfig } from '../../core/run-config/upgrade.ts';
import { eventFields, eventTypes } from '../../core/run-directory/events.ts';
import { Trainer } from '../../core/trainer/trainer.ts';
import { descriptionFiles } from '../../scripts/lib/description-files.mjs';
import { starpoHere } from '../core/fixtures/command.ts';
import { releaseEnvironments, releaseRuns } from '../release-runs.ts';
import { root, temporaryHome, trainer } from './trainer-process.ts';

const read = (path: string) => readFileSync(join(root, path), 'utf8');
const schema = JSON.parse(execFileSync(trainer, ['schema'], { encoding: 'utf8' }));

test.each(Object.entries<string>(descriptionFiles(schema, read)))(
  "%s is up to date with `npm run describe` and the trainer's description",
  (path, text) => {
    expect(read(path)).toBe(text);
  },
);

test('the format page describes the environments of the trainer', () => {
  const changed = structuredClone(schema);
  changed.environments.bandit[0].max_length = 33;
  changed.environments.corridor = [{ path: 'length', type: 'integer', minimum: 3, maximum: 9 }];
  const page = descriptionFiles(changed, read)['docs/formats/run-config.md'];
  expect(page).toContain('| `bandit` | `lo_arm_name` | string | 1 to 33 characters |\n');
  expect(page).toContain('| `corridor` | `length` | integer | 3..9 |\n');
});

test('every key has a help text, and every help text has a key', () => {
  const paths = schema.fields.map((field: { path: string }) => field.path);
  const { meanings } = JSON.parse(read('core/run-config/options.json'));
  expect(Object.keys(meanings).sort()).toEqual([...paths].sort());
});

test('core and the trainer have the same event types and fields', () => {
  const ours = eventTypes.map((type) => [type, eventFields(type).sort()]);
  const described = schema.events.map(({ name, fields }: { name: string; fields: { name: string }[] }) => [
    name,
    fields.map((field) => field.name).sort(),
  ]);
  expect(Object.fromEntries(ours)).toEqual(Object.fromEntries(described));
});

test.each(releaseEnvironments)('core and the trainer read the run.json of an older %s run identically', (name) => {
  const path = join(releaseRuns, name, 'run.json');
  const output = execFileSync(trainer, ['validate', path, '--json'], { encoding: 'utf8' });
  const { config, warnings } = JSON.parse(output);
  const ours = upgradeConfig(JSON.parse(readFileSync(path, 'utf8')));
  expect(config).toEqual(ours.config);
  expect(warnings).toEqual(ours.notes);
});

const example = JSON.parse(read('docs/formats/examples/run.json'));

test.each([
  ['policy_loss.mini_batch', 24, 'policy_loss.mini_batch: must be a multiple of rollout.group_size'],
  ['environments.0.label', 'train', 'environments[0].label: is reserved for training episodes'],
  ['environments.0.share', 0, 'environments: at least one share must be above 0'],
  ['environments.0.prompt.first', '{board}', 'environments[0].prompt.first'],
  ['policy_loss.dual_clip', 0.5, 'policy_loss.dual_clip'],
  ['critic.model', 'full', 'critic.model: must be none'],
])('core reports the rule of the trainer that %s = %j breaks', async (path, value, words) => {
  const validator = new Trainer([trainer]);
  expect(await validator.validate(example)).toMatchObject({ warnings: [] });
  const { code, message, hint } = await validator
    .validate(applySettings(example, { [path]: value }))
    .then(() => ({ code: 'none', message: '', hint: '' }), asFailure);
  expect(code).toBe('config_invalid');
  expect(message).toContain(words);
  expect(hint).not.toBe('');
});

test('a configuration that violates a constraint between keys is rejected, and no run is created', async () => {
  const home = temporaryHome(onTestFinished);
  const args = ['new', 'starter-bandit', '--home', home, '--set', 'policy_loss.mini_batch=24'];
  const { status, errors } = await starpoHere(args, process.env);
  expect(status).toBe(2);
  expect(errors).toContain('policy_loss.mini_batch: must be a multiple of rollout.group_size');
  expect(existsSync(join(home, 'runs')) ? readdirSync(join(home, 'runs')) : []).toEqual([]);
});
