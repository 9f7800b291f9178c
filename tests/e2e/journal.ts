import { existsSync, mkdirSync, readFileSync, watch, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { root, run } from '../../scripts/lib/process.mjs';

export interface Event {
  seq: number;
  type: string;
  iteration: number;
  pid: number;
  level: string;
  message: string;
  metrics: Record<string, number>;
}

/** Returns the events on complete lines of a run's journal. */
export function readJournal(folder: string): Event[] {
  const path = join(folder, 'events.jsonl');
  const text = existsSync(path) ? readFileSync(path, 'utf8') : '';
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));
}

export const iterationsOf = (events: Event[]) =>
  events.filter((event) => event.type === 'iteration').map((event) => event.iteration);

/** Waits until a run's journal contains an iteration, independent of the app. */
export function untilIteration(folder: string, iteration: number): Promise<void> {
  return new Promise((resolve) => {
    const watcher = watch(folder, () => check());
    const check = () => {
      if (!iterationsOf(readJournal(folder)).includes(iteration)) return;
      watcher.close();
      resolve();
    };
    check();
  });
}

/** Throws unless a single trainer wrote the journal without gaps, pauses or warnings. */
export function expectUndisturbed(folder: string): void {
  const events = readJournal(folder);
  const starts = events.filter((event) => event.type === 'started');
  expect(starts).toHaveLength(1);
  expect(events.map((event) => event.seq)).toEqual([...events.keys()]);
  const iterations = iterationsOf(events);
  expect(iterations).toEqual(iterations.map((_, index) => index + 1));
  expect(events.filter((event) => event.type === 'log' && event.level !== 'info')).toEqual([]);
  expect(events.filter((event) => ['paused', 'failed'].includes(event.type))).toEqual([]);
}

/** Throws unless a stopped run has bit-identical metrics and weights to the same run without the app. The reference run uses its own
 * folder and a minimal evaluation, which doesn't affect the random numbers of training.
 */
export async function expectSameAsAlone(folder: string, alone: string): Promise<void> {
  const events = readJournal(folder);
  const iterations = iterationsOf(events).at(-1)!;
  const config = JSON.parse(readFileSync(join(folder, 'run.json'), 'utf8'));
  mkdirSync(alone);
  const evaluation = { ...config.evaluation, every: 0, levels: 1 };
  writeFileSync(join(alone, 'run.json'), JSON.stringify({ ...config, iterations, evaluation }));
  const { status, output } = await run(join(root, 'native/build/starpo-trainer'), ['train', alone]);
  expect(status, output).toBe(0);
  expect(trainingMetrics(events)).toEqual(trainingMetrics(readJournal(alone)));
  const weights = (of: string) =>
    readFileSync(join(of, 'checkpoints', String(iterations).padStart(6, '0'), 'model.safetensors'));
  expect(weights(folder).equals(weights(alone))).toBe(true);
}

/** Returns metrics per iteration, without time and memory. */
const trainingMetrics = (events: Event[]) =>
  events
    .filter((event) => event.type === 'iteration')
    .map(({ metrics }) =>
      Object.fromEntries(Object.entries(metrics).filter(([name]) => !/^(time|throughput|memory)\//.test(name))),
    );
