import { cpSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { keptMetrics, readJournal, root, sha256, temporaryHome, train } from './trainer-process.ts';

const fixtures = join(root, 'tests/fixtures/version-1');
const kept = readdirSync(fixtures).filter((name) => name !== 'README.md');

let home: string;
let dispose: () => Promise<void>;
beforeAll(async () => {
  ({ home, dispose } = await temporaryHome());
  for (const name of kept) cpSync(join(fixtures, name), join(home, name), { recursive: true });
});
afterAll(() => dispose());

/** Goes on with a kept run to its end: weights, metrics, and what its journal says of what changed. */
async function resumed(name: string) {
  const folder = join(home, name);
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

  test.each(kept.filter((name) => name !== 'frozen-lake'))(
    'as %s to its end, to its bits or with the word of what changed',
    async (name) => {
      const { warnings, weights } = await resumed(name);
      if (warnings.length === 0) expect(weights).toBe(undisturbed(name).weights);
      else expect(warnings.join()).toContain('made by an earlier version');
    },
  );
});
