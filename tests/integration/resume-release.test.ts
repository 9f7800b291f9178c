import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { createCore } from '../../core/index.ts';
import { configVersion } from '../../core/run-config/upgrade.ts';
import { starpoHere } from '../core/fixtures/command.ts';
import { copyReleaseRun, releaseEnvironments, releaseRuns } from '../release-runs.ts';
import { finalMetrics, readJournal, temporaryHome, train, trainer } from './trainer-process.ts';

const home = temporaryHome();
const folderOf = (environment: string) => join(home, 'runs', environment);
const undisturbed = (environment: string) =>
  JSON.parse(readFileSync(join(releaseRuns, environment, 'undisturbed.json'), 'utf8'));

/** Returns the SHA-256 that a file of weights had in 1.0.0-beta.1, whose files have no checksums in their header. */
function digestAsInBeta1(path: string): string {
  const file = readFileSync(path);
  const end = 8 + Number(file.readBigUInt64LE());
  const header = JSON.parse(file.toString('utf8', 8, end));
  header.__metadata__ = { format: 'pt' };
  const text = JSON.stringify(header);
  const padded = text.padEnd(Math.ceil(text.length / 8) * 8);
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(padded.length));
  return createHash('sha256').update(length).update(padded).update(file.subarray(end)).digest('hex');
}

beforeAll(() => {
  for (const environment of releaseEnvironments) copyReleaseRun(environment, folderOf(environment));
});

describe('an interrupted run of 1.0.0-beta.1', () => {
  test('is forked with its optimizer state and trains bit-identically', async () => {
    const args = ['new', '--from', 'frozen-lake@2', '--keep-optimizer', '--home', home];
    const { output: fork } = await starpoHere(args, process.env);
    expect(JSON.parse(readFileSync(join(fork, 'run.json'), 'utf8'))).toMatchObject({
      version: configVersion,
      parent: { run: 'frozen-lake', iteration: 2 },
    });
    expect(await train(fork)).toBe(0);
    expect(digestAsInBeta1(join(fork, 'checkpoints/000003/model.safetensors'))).toBe(
      undisturbed('frozen-lake').weights,
    );
  });

  test.each(releaseEnvironments)(
    'resumes on %s bit-identically to an uninterrupted run and is indexed',
    async (name) => {
      const folder = folderOf(name);
      const config = readFileSync(join(folder, 'run.json'), 'utf8');
      expect(await train(folder)).toBe(0);
      expect(readFileSync(join(folder, 'run.json'), 'utf8')).toBe(config);
      const journal = readJournal(folder);
      expect(journal.at(-1)).toMatchObject({ type: 'stopped', reason: 'completed', iteration: 3 });
      expect(journal.filter(({ type }) => type === 'log')).toEqual([]);
      expect(digestAsInBeta1(join(folder, 'checkpoints/000003/model.safetensors'))).toBe(undisturbed(name).weights);
      expect(finalMetrics(journal)['iteration 3']).toMatchObject(undisturbed(name).metrics);

      const core = await createCore({ home });
      try {
        await core.supervisor.refresh(name);
        expect(core.runs.get(name)).toMatchObject({ status: 'completed', iteration: 3, iterations: 3 });
      } finally {
        await core.dispose();
      }
    },
  );

  test('is evaluated at its checkpoint', () => {
    const args = ['evaluate', folderOf('bandit'), '--checkpoint', '2', '--levels', '4', '--json'];
    const output = execFileSync(trainer, args, { encoding: 'utf8' });
    expect(output).toContain('evaluation/bandit/success_rate');
  });
});
