import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, watch } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, onTestFinished } from 'vitest';
import type { Setting } from '../../core/run-config/settings.ts';
import { isMachineMetric } from '../../core/run-directory/metrics.ts';
import { runFolder, runsFolder } from '../../core/run-directory/names.ts';
import { createRun } from '../../core/runs/create-run.ts';
import { Trainer } from '../../core/trainer/trainer.ts';

export const root = resolve(import.meta.dirname, '../..');
export const trainer = join(root, 'native/build/starpo-trainer');

export interface JournalEvent {
  seq: number;
  type: string;
  iteration?: number;
  label?: string;
  metrics?: Record<string, number>;
  checks?: { verdict: string }[];
  resume?: { iteration: number } | null;
  [key: string]: unknown;
}

/** Creates a temporary data folder. It is removed after the tests of the file, or after the test with `onTestFinished`. */
export function temporaryHome(cleanUp: (remove: () => void) => void = afterAll): string {
  const home = mkdtempSync(join(tmpdir(), 'starpo-'));
  cleanUp(() => rmSync(home, { recursive: true, force: true }));
  return home;
}

/** Creates a run without starting it and returns its folder. */
export async function newRun(home: string, preset: string, set: Record<string, Setting>): Promise<string> {
  mkdirSync(runsFolder(home), { recursive: true });
  const parts = { home, resources: join(root, 'resources'), trainer: new Trainer([trainer]) };
  return runFolder(home, await createRun(parts, { preset, set }));
}

/** Starts a trainer that the caller must end. */
export function spawnTrainer(folder: string, environment: Record<string, string> = {}): ChildProcess {
  const env = { ...process.env, ...environment };
  return spawn(trainer, ['train', folder], { stdio: 'ignore', env });
}

/** Starts a trainer that is killed at the end of the test. */
export function startTrainer(folder: string, environment: Record<string, string> = {}): ChildProcess {
  const child = spawnTrainer(folder, environment);
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

/** Trains to the end. Returns the exit status, or null if killed. */
export async function train(folder: string, environment: Record<string, string> = {}): Promise<number | null> {
  const [status] = await once(startTrainer(folder, environment), 'exit');
  return status;
}

/** Returns the events on complete lines of the journal. */
export function readJournal(folder: string): JournalEvent[] {
  const path = join(folder, 'events.jsonl');
  if (!existsSync(path)) return [];
  const text = readFileSync(path, 'utf8');
  return text
    .slice(0, text.lastIndexOf('\n') + 1)
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}

/** Resolves once `condition` is true for the journal. Rejects if the trainer exits before. */
export function journalReaches(
  folder: string,
  child: ChildProcess,
  condition: (events: JournalEvent[]) => boolean,
): Promise<void> {
  return new Promise((done, failed) => {
    const watcher = watch(folder);
    const settle = (act: () => void) => {
      watcher.close();
      child.off('exit', onExit);
      act();
    };
    const onExit = () => settle(() => failed(new Error('the trainer exited before its journal met the condition')));
    const check = () => condition(readJournal(folder)) && settle(done);
    child.on('exit', onExit);
    watcher.on('change', check);
    check();
  });
}

/** Returns the events in effect by type, iteration and label or split: the last of each, without those of repeated iterations. */
export function finalEvents(events: JournalEvent[]): Map<string, JournalEvent> {
  const final = new Map<string, JournalEvent>();
  for (const event of events) {
    if (event.type === 'started') {
      const from = event.resume?.iteration ?? -1;
      for (const [key, { iteration }] of final) if (iteration! > from) final.delete(key);
    }
    if (!['iteration', 'evaluation', 'rollout', 'checkpoint'].includes(event.type)) continue;
    final.set(`${event.type} ${event.iteration} ${event.label ?? event.split ?? ''}`.trim(), event);
  }
  return final;
}

/** Returns the final metrics of each iteration and evaluation, without those that depend on the machine's speed. */
export function finalMetrics(events: JournalEvent[]): Record<string, Record<string, number>> {
  const metrics = [...finalEvents(events)].filter(([, event]) => event.metrics);
  return Object.fromEntries(metrics.map(([key, event]) => [key, steadyMetrics(event)]));
}

/** Returns an event's metrics without those that depend on the machine's speed. */
export function steadyMetrics(event: JournalEvent): Record<string, number> {
  return Object.fromEntries(Object.entries(event.metrics ?? {}).filter(([name]) => !isMachineMetric(name)));
}

export function sha256(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}
