import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { configVersion } from '../../core/run-config/upgrade.ts';
import { commandLine } from '../command-line.ts';
import { keptMetrics, readJournal, root, sha256, temporaryHome, train, trainer } from './trainer-process.ts';

const fixtures = join(root, 'tests/fixtures/version-1');
const kept = readdirSync(fixtures).filter((name) => name !== 'README.md');

let home: string;
let dispose: () => Promise<void>;
beforeAll(async () => {
  ({ home, dispose } = await temporaryHome());
  for (const name of kept) cpSync(join(fixtures, name), join(home, 'runs', name), { recursive: true });
});
afterAll(() => dispose());

/** Goes on with a kept run to its end: weights, metrics, and what its journal says of what changed. */
async function resumed(name: string) {
  const folder = join(home, 'runs', name);
  const runJson = readFileSync(join(folder, 'run.json'), 'utf8');
  expect(await train(folder)).toBe(0);
  expect(readFileSync(join(folder, 'run.json'), 'utf8')).toBe(runJson);
  const journal = readJournal(folder);
  expect(journal.at(-1)).toMatchObject({ type: 'stopped', reason: 'completed', iteration: 4 });
  return {
    weights: sha256(join(folder, 'checkpoints/000004/model.safetensors')),
    metrics: keptMetrics(journal),
    warnings: journal.filter((event) => event.type === 'log').map((event) => event.message),
  };
}

const undisturbed = (name: string) =>
  JSON.parse(readFileSync(join(fixtures, name, 'undisturbed.json'), 'utf8'));

describe('a half-done run of version 1 goes on', () => {
  test('on dry ice to the bits that it would have had, without a word', async () => {
    const { warnings, weights, metrics } = await resumed('frozen-lake');
    expect(warnings).toEqual([]);
    expect(weights).toBe(undisturbed('frozen-lake').weights);
    expect(metrics).toMatchObject(undisturbed('frozen-lake').metrics);
  });

  test.each([
    ['frozen-lake-slippery', ['slips']],
    ['sokoban', ['scored alike']],
    ['bandit', ['payouts']],
    ['mixed', ['payouts', 'mini-batches']],
  ])('as %s to its end, with the word of what changed', async (name, words) => {
    const { warnings } = await resumed(name);
    const changed = warnings.filter((warning) => String(warning).startsWith('made by an earlier version'));
    expect(changed).toHaveLength(words.length);
    for (const [index, word] of words.entries()) expect(changed[index]).toContain(word);
  });
});

describe('a run of version 1', () => {
  test('is evaluated at a checkpoint', () => {
    const folder = join(home, 'runs/frozen-lake');
    const args = ['evaluate', folder, '--checkpoint', '2', '--levels', '8', '--json'];
    const { status, stdout } = spawnSync(trainer, args, { encoding: 'utf8' });
    expect(status).toBe(0);
    expect(stdout).toContain('evaluation/frozen-lake/success_rate');
  });

  test('is forked: with its optimiser and nothing changed to the bits that it would have had', async () => {
    const args = ['new', '--from', 'frozen-lake@2', '--keep-optimizer', '--home', home];
    cpSync(join(fixtures, 'frozen-lake/checkpoints'), join(home, 'runs/frozen-lake/checkpoints'), {
      recursive: true,
    });
    const fork = execFileSync(process.execPath, [commandLine, ...args], {
      cwd: root,
      encoding: 'utf8',
    }).trim();
    expect(JSON.parse(readFileSync(join(fork, 'run.json'), 'utf8'))).toMatchObject({
      version: configVersion,
      parent: { run: 'frozen-lake', iteration: 2 },
    });
    expect(await train(fork)).toBe(0);
    expect(sha256(join(fork, 'checkpoints/000004/model.safetensors'))).toBe(
      undisturbed('frozen-lake').weights,
    );
  });
});
