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

/** The whole lines of a run's journal. */
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

/** Settles once a run's journal holds an iteration; what the app knows of it doesn't matter. */
export function untilIteration(folder: string, iteration: number): Promise<void> {
  return new Promise((resolve) => {
    const watcher = watch(folder, () => look());
    const look = () => {
      if (!iterationsOf(readJournal(folder)).includes(iteration)) return;
      watcher.close();
      resolve();
    };
    look();
  });
}

/** Fails unless one trainer wrote the journal, without a gap, a pause or a complaint. */
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

/**
 * Fails unless a run that was stopped has, bit for bit, the figures and the weights of the same run by a trainer that nobody looks at.
 * That one works in a folder of its own and evaluates next to nothing, which changes no draw of the training.
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
  expect(figures(events)).toEqual(figures(readJournal(alone)));
  const weights = (of: string) =>
    readFileSync(join(of, 'checkpoints', String(iterations).padStart(6, '0'), 'model.safetensors'));
  expect(weights(folder).equals(weights(alone))).toBe(true);
}

/** What each iteration came to, but for the time and memory it took. */
const figures = (events: Event[]) =>
  events
    .filter((event) => event.type === 'iteration')
    .map(({ metrics }) =>
      Object.fromEntries(
        Object.entries(metrics).filter(([name]) => !/^(time|throughput|memory)\//.test(name)),
      ),
    );
