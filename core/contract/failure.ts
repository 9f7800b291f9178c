import type { ApiError, OwnCommand, RunStatus, RunSummary } from './contract.ts';
import { fileError } from './file-errors.ts';
import { hasActiveJob } from './run-facts.ts';

/** An error for users: a stable code, a message with the problem and its cause, and a hint with a solution. */
export class Failure extends Error {
  override readonly name = 'Failure';
  readonly code: string;
  readonly hint: string;
  /** The command that the user has not confirmed. */
  readonly unconfirmed: OwnCommand | undefined;

  constructor(code: string, message: string, hint: string, unconfirmed?: OwnCommand) {
    super(message);
    this.code = code;
    this.hint = hint;
    this.unconfirmed = unconfirmed;
  }

  toApiError(): ApiError {
    const { code, message, hint, unconfirmed } = this;
    return { code, message, hint, ...(unconfirmed && { unconfirmed }) };
  }
}

/** Returns the error for users if the operating system or SQLite rejected an operation on a file, else null. */
export function asFileFailure(error: unknown): Failure | null {
  const rejected = fileError(error);
  return rejected && new Failure(rejected.code, rejected.message, rejected.hint);
}

/** Returns `disk_full` if the system or SQLite reports that a file can't grow, else null. */
export function asDiskFull(error: unknown): Failure | null {
  const failure = error instanceof Failure ? error : asFileFailure(error);
  return failure?.code === 'disk_full' ? failure : null;
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Converts any thrown value to a {@link Failure}. Errors that neither the operating system nor SQLite reports about a file become `internal`. */
export function asFailure(error: unknown): Failure {
  if (error instanceof Failure) return error;
  return (
    asFileFailure(error) ??
    new Failure(
      'internal',
      `Something went wrong: ${messageOf(error)}`,
      'This is a bug. Please report it with the log.',
    )
  );
}

/** Returns an error handler that ignores failures with the given codes. */
export const ignoring =
  (...codes: string[]) =>
  (error: unknown) => {
    if (!codes.includes(asFailure(error).code)) throw error;
  };

/** Returns the error for a command to a run without a trainer. The hint names the command that its status allows. */
export function runNotActive({
  id: runId,
  status,
  task,
  job,
}: Pick<RunSummary, 'id' | 'status' | 'task' | 'job'>): Failure {
  const hints: Partial<Record<RunStatus, string>> = {
    queued: `Remove it from the queue with \`starpo queue remove ${runId}\`.`,
    completed: `Train it for more iterations with \`starpo extend ${runId} ITERATIONS\`.`,
  };
  return new Failure(
    'run_not_active',
    `Run ${runId} is not running (${status}).`,
    task === 'imported'
      ? 'It was imported and has only metrics.'
      : (hints[status] ??
          (hasActiveJob({ job })
            ? `Cancel its job with \`starpo cluster cancel ${runId}\`.`
            : `Start it with \`starpo resume ${runId}\`.`)),
  );
}

export function runUnknown(runId: string): Failure {
  return new Failure(
    'run_unknown',
    `Run ${runId} was not found.`,
    'The run may have been deleted. List runs with `starpo runs` or on the History page.',
  );
}
