import { once } from 'node:events';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { appendCommand, type Command } from '../../core/run-directory/control.ts';
import { journalReaches, newRun, readJournal, startTrainer, temporaryHome } from './trainer-process.ts';

let home: string;
let dispose: () => Promise<void>;
beforeAll(async () => {
  ({ home, dispose } = await temporaryHome());
});
afterAll(() => dispose());

test('a checkpoint asked for during the start evaluation is the start checkpoint, and no other', {
  timeout: 60_000,
}, async () => {
  const folder = await newRun(home, 'starter-bandit', {
    iterations: 3,
    'rollout.groups': 2,
    'evaluation.levels': 128,
    'evaluation.every': 0,
    'checkpoint.every': 0,
  });
  const child = startTrainer(folder);
  const ended = once(child, 'exit');
  const send = async (command: Command) => {
    const id = appendCommand(folder, command);
    await journalReaches(folder, child, (events) => events.some((event) => event.command_id === id));
  };
  await journalReaches(folder, child, (events) => events.some((event) => event.name === 'evaluate'));
  await send('pause');
  await send('checkpoint');
  await send('resume');
  expect(await ended).toEqual([0, null]);
  const checkpoints = readJournal(folder).filter((event) => event.type === 'checkpoint');
  expect(checkpoints.map((event) => event.iteration)).toEqual([0, 3]);
});
