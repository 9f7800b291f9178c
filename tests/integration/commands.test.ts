import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { appendCommand, type Command } from '../../core/run-directory/control.ts';
import {
  type JournalEvent,
  journalReaches,
  newRun,
  readJournal,
  startTrainer,
  temporaryHome,
} from './trainer-process.ts';

let home: string;
let dispose: () => Promise<void>;
beforeAll(async () => {
  ({ home, dispose } = await temporaryHome());
});
afterAll(() => dispose());

/** Asks a trainer for something and waits for its answer. Rejects where it ends before. */
async function send(folder: string, child: ChildProcess, command: Command): Promise<void> {
  const id = appendCommand(folder, command);
  await journalReaches(folder, child, (events) => events.some((event) => event.command_id === id));
}

/** A run that is held in its start evaluation of so many levels; undefined where the evaluation was over before the command was read. */
async function pausedInStartEvaluation(levels: number) {
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
  const held = await journalReaches(folder, child, evaluating)
    .then(() => send(folder, child, 'pause'))
    .then(
      () => true,
      () => false,
    );
  const types = readJournal(folder).map(({ type }) => type);
  if (held && types.includes('paused') && !types.includes('evaluation')) return { folder, child, ended };
  child.kill('SIGKILL');
  await ended;
  return undefined;
}

test('a checkpoint asked for during the start evaluation is the start checkpoint, and no other', {
  timeout: 300_000,
}, async () => {
  // However fast the trainer is and however late we hear of it, some number of levels outlasts that.
  let levels = 64;
  let paused = await pausedInStartEvaluation(levels);
  while (!paused) {
    levels *= 4;
    paused = await pausedInStartEvaluation(levels);
  }
  const { folder, child, ended } = paused;
  await send(folder, child, 'checkpoint');
  await send(folder, child, 'resume');
  expect(await ended).toEqual([0, null]);
  const checkpoints = readJournal(folder).filter((event) => event.type === 'checkpoint');
  expect(checkpoints.map((event) => event.iteration)).toEqual([0, 3]);
});
