import type { ApiError } from './contract.ts';

/** An error for users: a stable code, a message with the problem and its cause, and a hint with a solution. */
export class Failure extends Error {
  override readonly name = 'Failure';
  readonly code: string;
  readonly hint: string;

  constructor(code: string, message: string, hint: string) {
    super(message);
    this.code = code;
    this.hint = hint;
  }

  toApiError(): ApiError {
    return { code: this.code, message: this.message, hint: this.hint };
  }
}

/** Returns `disk_full` if the system or SQLite reports that a file can't grow, else null. SQLite reports a file size limit as a write error. */
export function asDiskFull(error: unknown): Failure | null {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  const full = typeof code === 'string' && /^(ENOSPC|EDQUOT|EFBIG|SQLITE_FULL|SQLITE_IOERR_WRITE)$/.test(code);
  if (!full) return null;
  return new Failure(
    'disk_full',
    `The disk is full: ${message}`,
    'Free some disk space, or raise the file size limit (ulimit -f). No data was lost: missing events are ingested again.',
  );
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Converts any thrown value to a {@link Failure}. Anything else is an internal error. */
export function asFailure(error: unknown): Failure {
  if (error instanceof Failure) return error;
  const diskFull = asDiskFull(error);
  if (diskFull) return diskFull;
  return new Failure(
    'internal',
    `Something went wrong: ${messageOf(error)}`,
    'This is a bug. Please report it with the log.',
  );
}

/** Returns an error handler that ignores failures with the given codes. */
export const ignoring =
  (...codes: string[]) =>
  (error: unknown) => {
    if (!codes.includes(asFailure(error).code)) throw error;
  };

const fileReasons: Readonly<Record<string, string>> = {
  ENOENT: 'file not found',
  ENOTDIR: 'folder not found',
  EISDIR: 'it is a folder',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
};

/** Returns why a file can't be read or written, to end a sentence. */
export function fileReason(error: unknown): string {
  const { code = '', message = String(error) } = error as { code?: string; message?: string };
  return fileReasons[code] ?? message;
}

export function runUnknown(runId: string): Failure {
  return new Failure(
    'run_unknown',
    `Run ${runId} was not found.`,
    'The run may have been deleted. List runs with `starpo runs` or on the History page.',
  );
}
