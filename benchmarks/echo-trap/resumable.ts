import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { compactJson, machine } from '../machine.ts';

/** Work that takes hours: each finished job is a file, so that the command can be stopped at any time and continued with the same arguments. */

export interface Job<Result> {
  /** Name of its file. */
  name: string;
  run: () => Promise<Result>;
}

/** A result with its origin. */
interface Finished<Result> {
  machine: ReturnType<typeof machine>;
  seconds: number;
  result: Result;
}

const stopped = new AbortController();
let isWatched = false;

/** Stops after Ctrl+C or SIGTERM, and the children with it. */
function stopOnSignals(): void {
  if (isWatched) return;
  isWatched = true;
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stopped.abort());
}

/** Returns the result of a finished job; undefined if it is not finished. */
export function finishedJob<Result>(folder: string, name: string): Result | undefined {
  const file = join(folder, `${name}.json`);
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Finished<Result>).result : undefined;
}

/**
 * Runs the jobs that are not finished, and reports progress and remaining time. A failed job is reported and skipped. Calls `onResult` after each, for example to write
 * a summary. Returns false if it was stopped.
 */
export async function runJobs<Result>(
  jobs: readonly Job<Result>[],
  { folder, workers, onResult }: { folder: string; workers: number; onResult: () => void },
): Promise<boolean> {
  stopOnSignals();
  mkdirSync(folder, { recursive: true });
  const waiting = jobs.filter(({ name }) => finishedJob(folder, name) === undefined);
  let total = waiting.length;
  const before = jobs.length - total;
  console.log(`Finished jobs: ${before} of ${jobs.length}.`);
  const began = performance.now();
  let done = 0;
  await Promise.all(
    Array.from({ length: workers }, async () => {
      for (let job = waiting.shift(); job && !stopped.signal.aborted; job = waiting.shift()) {
        const started = performance.now();
        try {
          const result = await job.run();
          const seconds = Math.round((performance.now() - started) / 1000);
          save(folder, job.name, { machine: machine(), seconds, result });
        } catch (error) {
          if (stopped.signal.aborted) return;
          console.error(`${job.name} failed: ${error instanceof Error ? error.message : error}`);
          process.exitCode = 1;
          total -= 1;
          continue;
        }
        done += 1;
        const hours = (((performance.now() - began) / done) * (total - done)) / 3_600_000;
        console.log(`${job.name}. ${before + done} of ${jobs.length}, about ${hours.toFixed(1)} h left`);
        onResult();
      }
    }),
  );
  if (stopped.signal.aborted) console.log('Stopped. The same command continues.');
  return !stopped.signal.aborted;
}

function save<Result>(folder: string, name: string, finished: Finished<Result>): void {
  const file = join(folder, `${name}.json`);
  writeFileSync(`${file}.part`, `${compactJson(finished)}\n`);
  renameSync(`${file}.part`, file);
}

/** Runs a command and returns its output. Rejects if it fails. Waits for its end if the benchmark is stopped. */
export function commandOutput(command: string, args: readonly string[], cwd: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] });
    let [output, errors] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', (text) => {
      output += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text) => {
      errors += text;
    });
    const stop = () => child.kill('SIGINT');
    stopped.signal.addEventListener('abort', stop);
    child.on('error', reject);
    child.on('close', (code) => {
      stopped.signal.removeEventListener('abort', stop);
      if (code === 0 && !stopped.signal.aborted) resolve(output);
      else reject(new Error(errors.trim() || `${command} exited with ${code}`));
    });
  });
}
