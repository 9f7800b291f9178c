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

/** Anything thrown, as an error for people. What isn't a {@link Failure} is a defect of ours and is called so. */
export function asFailure(error: unknown): Failure {
  if (error instanceof Failure) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new Failure(
    'internal',
    `Something went wrong: ${message}`,
    'This is a defect; please report it with the log.',
  );
}
