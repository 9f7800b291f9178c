import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { appendCommand, type Command } from '../../core/run-directory/control.ts';
import {
  type JournalEvent,
  journalReaches,
  newRun,
  readJournal,
  startTrainer,
  temporaryHome,
} from './trainer-process.ts';

const home = temporaryHome();

/** Sends a command to a trainer and waits for its answer. Rejects if the trainer exits before. */
async function send(folder: string, child: ChildProcess, command: Command): Promise<void> {
  const id = appendCommand(folder, command);
  await journalReaches(folder, child, (events) => events.some((event) => event.command_id === id));
}

/** Pauses a run in its first evaluation of `levels` levels. Returns undefined if the evaluation ended before the command was read. */
async function pausedInFirstEvaluation(levels: number) {
  const folder = await newRun(home, 'starter-bandit', {
    iterations: 3,
    'rollout.groups': 2,
    'evaluation.levels': levels,
    'evaluation.every': 0,
    'checkpoint.every': 0,
  });
  const child = startTrainer(folder);
  const ended = once(child, 'exit');
  const evaluating = (events: JournalEvent[]) => events.some((event) => event.name === 'evaluate');
  const paused = await journalReaches(folder, child, evaluating)
    .then(() => send(folder, child, 'pause'))
    .then(
      () => true,
      () => false,
    );
  const types = readJournal(folder).map(({ type }) => type);
  if (paused && types.includes('paused') && !types.includes('evaluation')) return { folder, child, ended };
  child.kill('SIGKILL');
  await ended;
  return undefined;
}

test('a checkpoint requested during the first evaluation is the first checkpoint', {
  timeout: 300_000,
}, async () => {
  // Enough levels outlast any delay between the trainer and this test.
  let levels = 64;
  let paused = await pausedInFirstEvaluation(levels);
  while (!paused) {
    levels *= 4;
    paused = await pausedInFirstEvaluation(levels);
  }
  const { folder, child, ended } = paused;
  await send(folder, child, 'checkpoint');
  await send(folder, child, 'resume');
  expect(await ended).toEqual([0, null]);
  const checkpoints = readJournal(folder).filter((event) => event.type === 'checkpoint');
  expect(checkpoints.map((event) => event.iteration)).toEqual([0, 3]);
});
