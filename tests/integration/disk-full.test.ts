import { once } from 'node:events';
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { runWithin } from '../run-within.ts';
import { endState } from './killing.ts';
import { newTinyRun, sameRun } from './tiny-run.ts';
import { readJournal, spawnTrainer, temporaryHome, train, trainer } from './trainer-process.ts';

const home = temporaryHome();
let complete: string;
beforeAll(async () => {
  complete = await newTinyRun(home, { iterations: 8, 'checkpoint.keep': 8 });
  expect((await once(spawnTrainer(complete), 'exit'))[0]).toBe(0);
});

/** Trains with a limit on file size, so that longer writes fail as on a full disk. */
const trainWithin = (folder: string, bytes: number) => runWithin(bytes, [trainer, 'train', folder]);

/** Returns a copy of the complete run as if its trainer was killed right after the checkpoint of iteration 2. */
function interruptedRun(name: string): string {
  const folder = join(complete, '..', name);
  cpSync(complete, folder, { recursive: true });
  const late = (file: string) => Number(file.slice(0, 6)) > 2;
  for (const place of ['rollouts', 'checkpoints'])
    for (const file of readdirSync(join(folder, place)).filter(late))
      rmSync(join(folder, place, file), { recursive: true });
  const text = readFileSync(join(folder, journal), 'utf8');
  const event = text.indexOf('"type":"checkpoint","iteration":2');
  truncateSync(join(folder, journal), text.indexOf('\n', event) + 1);
  return folder;
}

const journal = 'events.jsonl';
const size = (folder: string, file: string) => statSync(join(folder, file)).size;

test.each([
  ['a rollout', 'rollouts', () => size(complete, 'rollouts/000008-train.jsonl.zst') - 1024],
  ['a checkpoint', 'checkpoints', () => size(complete, 'checkpoints/000008/model.safetensors') - 1024],
  ['the journal', journal, (folder: string) => size(folder, journal)],
])(
  'a full disk while writing %s fails the run with a hint, and it resumes when space is free',
  async (name, place, limit) => {
    const folder = interruptedRun(name.replaceAll(' ', '-'));
    const before = readdirSync(join(folder, 'checkpoints'));
    const { status, errors } = trainWithin(folder, limit(folder));
    expect(status).toBe(1);
    expect(errors).toMatch(/^error: .+\n {2}code: disk_full\n {2}hint: .+\n/);
    expect(errors.split('\n')[0]).toContain(join(folder, place));
    if (place !== journal) expect(readJournal(folder).at(-1)).toMatchObject({ type: 'failed', code: 'disk_full' });
    expect(readdirSync(join(folder, 'checkpoints'))).toEqual(before);
    expect(readdirSync(join(folder, 'rollouts')).filter((file) => file.endsWith('.partial'))).toEqual([]);

    expect(await train(folder)).toBe(0);
    expect(endState(folder)).toEqual(endState(complete));
  },
);

test('a disk that is full from the start leaves no partial file', async () => {
  const folder = sameRun(complete, 'full');
  const { status, errors } = trainWithin(folder, 0);
  expect(status).toBe(1);
  expect(errors).toContain('code: disk_full');
  expect(existsSync(join(folder, 'checkpoints'))).toBe(false);
  expect(await train(folder)).toBe(0);
  expect(endState(folder)).toEqual(endState(complete));
});
