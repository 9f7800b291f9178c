import { z } from 'zod';
import { problemIn } from '../contract/issue-words.ts';

/** An answer to a reset or a step. */
export const reply = z.object({
  observation: z.record(z.string(), z.unknown()),
  /** Null can also mean NaN, which the server can't write. */
  reward: z.union([z.number(), z.boolean().transform(Number)]).nullish(),
  done: z.boolean(),
});
export type Reply = z.infer<typeof reply>;

/** An episode on a server. After any error but VALIDATION_ERROR it can't continue. */
export interface Session {
  reset(data: object): Promise<Reply>;
  step(action: object): Promise<Reply>;
  state(): Promise<Record<string, unknown>>;
  /** Resolves when the server has room for another episode. */
  close(): Promise<void>;
}

/** A problem of the server or the connection. `code`: of the server, or `unreachable`, `closed`, `timeout`, `invalid`. */
export class ServerError extends Error {
  readonly code: string;
  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** Returns a value as the schema requires. */
export function checked<T>(schema: z.ZodType<T>, value: unknown, what: string): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new ServerError('invalid', `its ${what} is invalid: ${problemIn(value, parsed.error)}`);
}
