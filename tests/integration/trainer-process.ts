import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readFileSync, watch } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { onTestFinished } from 'vitest';
import { isMachineMetric } from '../../core/run-directory/metrics.ts';
import { commandLine } from '../command-line.ts';

export const root = resolve(import.meta.dirname, '../..');
export const trainer = join(root, 'native/build/starpo-trainer');
const run = promisify(execFile);

export interface JournalEvent {
  seq: number;
  type: string;
  iteration?: number;
  label?: string;
  metrics?: Record<string, number>;
  resume?: { iteration: number } | null;
  [key: string]: unknown;
}

/** A temporary data folder, removed by `dispose`. */
export async function temporaryHome() {
  const home = await mkdtemp(join(tmpdir(), 'starpo-'));
  return { home, dispose: () => rm(home, { recursive: true, force: true }) };
}

/** Makes a run directory with the command line, starting nothing. */
export async function newRun(
  home: string,
  preset: string,
  settings: Record<string, string | number>,
): Promise<string> {
  const set = Object.entries(settings).flatMap(([key, value]) => ['--set', `${key}=${value}`]);
  const { stdout } = await run(process.execPath, [commandLine, 'new', preset, '--home', home, ...set], {
    cwd: root,
  });
  return stdout.trim();
}

/** Starts a trainer, which the caller must end. */
export function spawnTrainer(folder: string, environment: Record<string, string> = {}): ChildProcess {
  const env = { ...process.env, ...environment };
  return spawn(trainer, ['train', folder], { stdio: 'ignore', env });
}

/** Starts a trainer, which doesn't outlive the test. */
export function startTrainer(folder: string, environment: Record<string, string> = {}): ChildProcess {
  const child = spawnTrainer(folder, environment);
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

/** Trains to the end; gives the exit status (null: killed). */
export async function train(
  folder: string,
  environment: Record<string, string> = {},
): Promise<number | null> {
  const [status] = await once(startTrainer(folder, environment), 'exit');
  return status;
}

/** Whole lines of the journal. */
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

/** Resolves once `reached` holds for the journal, looked at whenever the run directory changes; rejects when the trainer ends before. */
export function journalReaches(
  folder: string,
  child: ChildProcess,
  reached: (events: JournalEvent[]) => boolean,
): Promise<void> {
  return new Promise((done, failed) => {
    const watcher = watch(folder);
    const settle = (act: () => void) => {
      watcher.close();
      child.off('exit', onExit);
      act();
    };
    const onExit = () => settle(() => failed(new Error('the trainer ended before its journal got there')));
    const look = () => reached(readJournal(folder)) && settle(done);
    child.on('exit', onExit);
    watcher.on('change', look);
    look();
  });
}

/** What a reader keeps of a journal by type, iteration and label or split: the last event of each, less those of iterations that were done again. */
export function keptEvents(events: JournalEvent[]): Map<string, JournalEvent> {
  const kept = new Map<string, JournalEvent>();
  for (const event of events) {
    if (event.type === 'started') {
      const from = event.resume?.iteration ?? -1;
      for (const [key, { iteration }] of kept) if (iteration! > from) kept.delete(key);
    }
    if (!['iteration', 'evaluation', 'rollout', 'checkpoint'].includes(event.type)) continue;
    kept.set(`${event.type} ${event.iteration} ${event.label ?? event.split ?? ''}`.trim(), event);
  }
  return kept;
}

/** The kept metrics of each iteration and evaluation, less those that depend on the machine's speed. */
export function keptMetrics(events: JournalEvent[]): Record<string, Record<string, number>> {
  const metrics = [...keptEvents(events)].filter(([, event]) => event.metrics);
  return Object.fromEntries(metrics.map(([key, event]) => [key, steadyMetrics(event)]));
}

/** An event's metrics less those that depend on the machine's speed. */
export function steadyMetrics(event: JournalEvent): Record<string, number> {
  return Object.fromEntries(Object.entries(event.metrics ?? {}).filter(([name]) => !isMachineMetric(name)));
}

export function sha256(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}
