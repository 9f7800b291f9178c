import type { ApiError } from './contract.ts';

/** An error a person can act on, as an exception: a stable code, what is wrong, and what to do. */
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

/** `disk_full` where the system or SQLite says that a file can't grow, else null. SQLite calls a limit on the size of files an error of writing. */
export function asDiskFull(error: unknown): Failure | null {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  const full =
    typeof code === 'string' && /^(ENOSPC|EDQUOT|EFBIG|SQLITE_FULL|SQLITE_IOERR_WRITE)$/.test(code);
  if (!full) return null;
  return new Failure(
    'disk_full',
    `No space is left: ${message}`,
    'Free some space, or raise the limit on the size of files (ulimit -f). Nothing that was written is lost: what is missing is taken in again.',
  );
}

/** Anything thrown, as an error for people. What isn't a {@link Failure} is a defect of ours and is called so. */
export function asFailure(error: unknown): Failure {
  if (error instanceof Failure) return error;
  const diskFull = asDiskFull(error);
  if (diskFull) return diskFull;
  const message = error instanceof Error ? error.message : String(error);
  return new Failure(
    'internal',
    `Something went wrong: ${message}`,
    'This is a defect; please report it with the log.',
  );
}

const fileReasons: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  ENOTDIR: 'there is no such folder',
  EISDIR: 'it is a folder',
  EACCES: 'its permissions forbid it',
  EPERM: 'its permissions forbid it',
};

/** Why a file can't be read or written, as the end of a sentence. */
export function fileReason(error: unknown): string {
  const { code = '', message = String(error) } = error as { code?: string; message?: string };
  return fileReasons[code] ?? message;
}

/** Nothing is known of a run, be it asked for here or by a client. */
export function runUnknown(runId: string): Failure {
  return new Failure(
    'run_unknown',
    `There is no run ${runId}.`,
    'History in the app, and `starpo runs`, list the runs of this data folder.',
  );
}
