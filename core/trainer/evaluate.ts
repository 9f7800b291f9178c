import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import { endChild } from '../base/process.ts';
import { Failure } from '../contract/failure.ts';
import { parseTrainerError, unstartable } from './trainer-error.ts';

const progress = z.object({
  done: z.int(),
  total: z.int(),
  eta_seconds: z.number().nullable(),
});
const line = z.union([progress, z.object({ result: z.unknown() })]);

export type EvaluationProgress = z.infer<typeof progress>;

export interface EvaluationProcess {
  /** Resolves when the policy is loaded and episodes start; rejects as `ended` does. */
  begun: Promise<void>;
  /** Resolves with the result. Rejects with the trainer's own error, `evaluation_canceled` after `cancel`, `trainer_unusable` or `trainer_failed`. */
  ended: Promise<unknown>;
  cancel(): void;
}

/** Maximum stderr to keep. Errors are at its end. */
const errorLimit = 1 << 16;

/** Runs `starpo-trainer evaluate` as a child process. `options`: command-line options by name, without dashes. */
export function launchEvaluation(
  executable: string,
  folder: string,
  options: Record<string, string | number>,
  onProgress: (progress: EvaluationProgress) => void,
  env = process.env,
): EvaluationProcess {
  const named = Object.entries(options).flatMap(([name, value]) => [`--${name}`, String(value)]);
  const child = spawn(executable, ['evaluate', folder, ...named, '--json'], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env,
  });
  let result: unknown;
  let canceled = false;
  let errors = '';
  let begin: () => void;
  const first = new Promise<void>((resolve) => {
    begin = resolve;
  });
  createInterface({ input: child.stdout }).on('line', (text) => {
    const parsed = readLine(text);
    if (!parsed) return;
    if ('result' in parsed) result = parsed.result;
    else onProgress(parsed);
    begin();
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    errors = (errors + text).slice(-errorLimit);
  });
  const ended = new Promise<unknown>((resolve, reject) => {
    child.once('error', (error) => reject(unstartable(executable, error)));
    child.once('close', (status, signal) => {
      if (status === 0 && result !== undefined) return resolve(result);
      const ending = `The evaluation ended with ${signal ?? `status ${status}`}.`;
      const unexplained = canceled
        ? new Failure('evaluation_canceled', 'The evaluation was canceled.', 'Start it again.')
        : new Failure(
            'trainer_failed',
            ending,
            'Start it again. If the system ran out of memory, close other programs first.',
          );
      reject(parseTrainerError(errors) ?? unexplained);
    });
  });
  const begun = Promise.race([first, ended.then(() => {})]);
  // A caller may await only one of them; the other must not cause an unhandled rejection.
  for (const promise of [ended, begun]) promise.catch(() => {});
  return {
    begun,
    ended,
    cancel: () => {
      canceled = true;
      endChild(child);
    },
  };
}

function readLine(text: string): z.infer<typeof line> | null {
  try {
    return line.parse(JSON.parse(text));
  } catch {
    return null;
  }
}
