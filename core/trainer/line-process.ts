import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import { endChild } from '../base/process.ts';
import { Failure } from '../contract/failure.ts';
import { sentence } from '../contract/sentence.ts';
import { parseTrainerError, trainerUnusable } from './trainer-error.ts';

const errorAnswer = z.object({
  error: z.object({ code: z.string(), message: z.string(), hint: z.string().default('Choose another level.') }),
});

interface Pending {
  resolve(line: string): void;
  reject(error: unknown): void;
}

/** Response timeout in ms. Generating a Sokoban level may take long. */
const timeout = 20_000;
/** Maximum stderr to keep. Errors are at its end. */
const errorLimit = 4096;

/** A trainer command that answers JSON lines in order (docs/formats/env-protocol.md). The child process exits with this process. */
export class LineProcess {
  private readonly child;
  private readonly pending: Pending[] = [];
  private errors = '';
  private ended: Failure | null = null;

  constructor(executable: string, args: readonly string[], env: NodeJS.ProcessEnv) {
    this.child = spawn(executable, args, { stdio: ['pipe', 'pipe', 'pipe'], env });
    createInterface({ input: this.child.stdout }).on('line', (line) => this.pending.shift()?.resolve(line));
    this.child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.errors = (this.errors + text).slice(-errorLimit);
    });
    // A trainer that exits early has reported the reason.
    this.child.stdin.on('error', () => {});
    this.child.once('error', (error) => this.fail(this.unusable(error.message)));
    this.child.once('close', () =>
      this.fail(parseTrainerError(this.errors) ?? this.unusable('it exited unexpectedly')),
    );
  }

  close(): void {
    this.fail(new Failure('game_unknown', 'This play session has ended.', 'Open it again.'));
    endChild(this.child);
  }

  /** Returns the answer. Throws the trainer's error or `trainer_unusable`. */
  protected async ask(request: object): Promise<unknown> {
    const answer: unknown = JSON.parse(await this.send(request));
    const refused = errorAnswer.safeParse(answer);
    if (!refused.success) return answer;
    const { code, message, hint } = refused.data.error;
    throw new Failure(code, `The trainer can't continue: ${message}.`, sentence(hint));
  }

  private async send(request: object): Promise<string> {
    if (this.ended) throw this.ended;
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    const timer = setTimeout(() => {
      this.fail(
        new Failure(
          'trainer_unusable',
          `The trainer did not answer within ${timeout / 1000} s.`,
          'Try again, or choose another level. `starpo env check` shows how long a program of your own takes.',
        ),
      );
      endChild(this.child);
    }, timeout);
    this.pending.push({ resolve, reject });
    this.child.stdin.write(`${JSON.stringify(request)}\n`);
    return promise.finally(() => clearTimeout(timer));
  }

  private fail(error: Failure): void {
    this.ended ??= error;
    for (const { reject } of this.pending.splice(0)) reject(this.ended);
  }

  private unusable(reason: string): Failure {
    return trainerUnusable(`The trainer ${this.child.spawnfile} failed: ${reason}.`);
  }
}
