import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import { endChild } from '../base/end-child.ts';
import { Failure } from '../contract/failure.ts';
import { parseTrainerError } from './trainer-error.ts';

const refusal = z.object({ error: z.object({ code: z.string(), message: z.string() }) });
const begun = z.object({
  observation: z.string(),
  actions: z.array(z.string()),
  info: z.looseObject({ arms: z.array(z.string()).optional() }),
});
const stepped = z.object({
  observation: z.string(),
  reward: z.number(),
  done: z.boolean(),
  info: z.object({
    effective: z.boolean(),
    valid: z.boolean(),
    success: z.boolean(),
    slipped: z.boolean(),
  }),
});

export type EnvironmentStart = z.infer<typeof begun>;
export interface EnvironmentStep extends z.infer<typeof stepped> {
  /** Python would print the reward without a fraction. */
  integer: boolean;
}

interface Waiting {
  resolve(line: string): void;
  reject(error: unknown): void;
}

/** Response timeout in ms. Sokoban may search long for a level. */
const patience = 20_000;

/** A level played by `starpo-trainer env` (docs/formats/env-protocol.md), a child process that ends with this one. */
export class EnvironmentProcess {
  private readonly child;
  private readonly waiting: Waiting[] = [];
  private errors = '';
  private ended: Failure | null = null;

  /** `noise`: the validation seed of the evaluation whose slips and payouts are met; undefined: those of the level itself. */
  constructor(executable: string, type: string, config: object, noise: number | undefined) {
    const args = ['env', type, '--config', JSON.stringify(config)];
    if (noise !== undefined) args.push('--noise', String(noise));
    this.child = spawn(executable, args, { stdio: ['pipe', 'pipe', 'pipe'] });
    createInterface({ input: this.child.stdout }).on('line', (line) => this.waiting.shift()?.resolve(line));
    this.child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.errors = (this.errors + text).slice(-4096);
    });
    this.child.stdin.on('error', () => {});
    this.child.once('error', (error) => this.fail(unusable(executable, error.message)));
    this.child.once('close', () =>
      this.fail(parseTrainerError(this.errors) ?? unusable(executable, 'it has ended')),
    );
  }

  /** Throws `level_not_found` or `trainer_unusable`. */
  async reset(seed: number): Promise<EnvironmentStart> {
    return begun.parse(JSON.parse(await this.ask({ reset: seed })));
  }

  async step(action: string): Promise<EnvironmentStep> {
    const line = await this.ask({ step: action });
    const integer = /"reward":-?\d+[,}]/.test(line);
    return { ...stepped.parse(JSON.parse(line)), integer };
  }

  close(): void {
    this.fail(new Failure('game_unknown', 'The game has ended.', 'Open it again.'));
    endChild(this.child);
  }

  private async ask(request: object): Promise<string> {
    const line = await new Promise<string>((resolve, reject) => {
      if (this.ended) throw this.ended;
      const timer = setTimeout(() => {
        this.fail(unusable(this.child.spawnfile, 'it gives no answer'));
        endChild(this.child);
      }, patience);
      this.waiting.push({
        resolve: (line) => {
          clearTimeout(timer);
          resolve(line);
        },
        reject: (error) => {
          clearTimeout(timer);
          reject(error);
        },
      });
      this.child.stdin.write(`${JSON.stringify(request)}\n`);
    });
    const refused = refusal.safeParse(JSON.parse(line));
    if (!refused.success) return line;
    const { code, message } = refused.data.error;
    throw new Failure(code, `The environment rejected the level: ${message}.`, 'Choose another level.');
  }

  private fail(error: Failure): void {
    this.ended ??= error;
    for (const { reject } of this.waiting.splice(0)) reject(this.ended);
  }
}

const unusable = (executable: string, reason: string) =>
  new Failure(
    'trainer_unusable',
    `The trainer ${executable} cannot run the environment: ${reason}.`,
    'Run `npm run setup` to build it again.',
  );
