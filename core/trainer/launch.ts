import { spawn } from 'node:child_process';
import { closeSync, fstatSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Failure } from '../contract/failure.ts';
import { openForAppending } from '../run-directory/append-line.ts';
import { runFiles } from '../run-directory/names.ts';
import { parseTrainerError, unstartable } from './trainer-error.ts';

/** Maximum bytes of the log to search for an error, which is at its end. */
const logLimit = 1 << 16;

export interface LaunchedTrainer {
  pid: number;
  /** Resolves when the trainer exits, with its error if it reported one. */
  ended: Promise<{ status: number | null; signal: NodeJS.Signals | null; error: Failure | null }>;
}

/**
 * Starts a trainer in its own session, so that it survives this process. It appends its output to trainer.log.
 * Throws `trainer_unusable` if the system cannot run it, `run_folder_invalid` if the log is a symbolic link.
 */
export async function launchTrainer(
  executable: string,
  args: readonly string[],
  folder: string,
  env: NodeJS.ProcessEnv,
): Promise<LaunchedTrainer> {
  const logPath = join(folder, runFiles.log);
  const log = openForAppending(logPath);
  const logStart = fstatSync(log).size;
  try {
    const child = spawn(executable, args, { detached: true, stdio: ['ignore', log, log], env });
    const ended = new Promise<{ status: number | null; signal: NodeJS.Signals | null; error: Failure | null }>(
      (resolve) => {
        child.once('exit', (status, signal) => {
          resolve({ status, signal, error: status === 0 ? null : parseTrainerError(textAfter(logPath, logStart)) });
        });
      },
    );
    await new Promise<void>((started, failed) => {
      child.once('spawn', started);
      child.once('error', failed);
    });
    child.unref();
    return { pid: child.pid!, ended };
  } catch (error) {
    throw unstartable(executable, error);
  } finally {
    closeSync(log);
  }
}

/** Returns the text from byte `start` to the end of a file, at most the last {@link logLimit} bytes. Empty if the file is gone. */
function textAfter(path: string, start: number): string {
  try {
    return readFileSync(path).subarray(start).subarray(-logLimit).toString('utf8');
  } catch {
    return '';
  }
}
