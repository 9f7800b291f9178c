import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { statSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { z } from 'zod';
import { programsPath } from '../base/programs.ts';
import { quoted } from '../base/quoted.ts';
import type { OwnCommand } from '../contract/contract.ts';
import { asFileFailure, Failure, messageOf } from '../contract/failure.ts';
import { fileReason } from '../contract/file-errors.ts';
import { problemIn } from '../contract/issue-words.ts';

/** Returns the shell command of an environment: the OpenEnv client for an address, otherwise the text itself. */
export function commandOf(text: string): string {
  const address = text.trim();
  if (!/^(https?|wss?):\/\/\S+$/.test(address)) return text;
  const isPlain = /^[\w:/.\-[\]@%]+$/.test(address);
  return `starpo-openenv ${isPlain ? address : quoted(address)}`;
}

const actions = z.array(z.string().min(1)).min(1).nullish();
const state = {
  id: z.int(),
  observation: z.string(),
  board: z.string().nullish(),
  anchor: z.string().nullish(),
  actions,
};
const helloAnswer = z.strictObject({
  hello: z.strictObject({
    version: z.literal(1),
    name: z.string(),
    episodes: z.int().min(1).max(4096).default(1),
    actions,
  }),
});
const resetAnswer = z.strictObject(state);
const busyAnswer = z.strictObject({ id: state.id, busy: z.literal(true) });
const stepAnswer = z
  .strictObject({
    ...state,
    reward: z.number(),
    done: z.boolean(),
    success: z.boolean().optional(),
    valid: z.boolean().optional(),
    effective: z.boolean().optional(),
    terms: z.record(z.string(), z.number()).optional(),
  })
  .refine(addsUp, { path: ['terms'], error: 'must add up to the reward' });

/** Uses the tolerance of the trainer. */
function addsUp({ reward, terms }: { reward: number; terms?: Readonly<Record<string, number>> | undefined }): boolean {
  const sum = Object.values(terms ?? { reward }).reduce((total, term) => total + term, 0);
  return Math.abs(sum - reward) <= 1e-6 * Math.max(1, Math.abs(sum));
}

export type Hello = z.infer<typeof helloAnswer>['hello'];
export type StateAnswer = z.infer<typeof resetAnswer>;
export type StepAnswer = z.infer<typeof stepAnswer>;

/** Maximum length of a line in bytes, as in the trainer. */
const lineLimit = 1 << 20;
/** Maximum number of characters of stderr to keep. Errors are at its end. */
const logLimit = 4096;
/** The variables that the trainer passes on. */
const inherited = ['PATH', 'HOME', 'USER', 'LANG', 'LC_ALL', 'LC_CTYPE', 'TMPDIR', 'TZ'];

interface Pending {
  resolve: (message: unknown) => void;
  reject: (error: unknown) => void;
}

/** A process of a user's environment program, outside training (docs/formats/process-environment.md). */
export class EnvironmentProgram {
  private readonly child: ChildProcessByStdio<Writable, Readable, Readable>;
  private readonly pending = new Map<number, Pending>();
  private readonly limit: number;
  private ended: Failure | null = null;
  private readonly room = new EventEmitter();
  private nextId = 1;
  /** End of its standard error. */
  private errors = '';

  /** `limit`: seconds per answer. `onLog` receives its standard error. Throws `directory_missing`. */
  constructor({ command, directory }: OwnCommand, limit: number, onLog: (text: string) => void = () => {}) {
    requireFolder(directory);
    this.limit = limit;
    const own = Object.fromEntries(inherited.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])));
    this.child = spawn('/bin/sh', ['-c', command], {
      cwd: directory,
      env: { ...own, PATH: programsPath(), PYTHONUNBUFFERED: '1' },
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    this.child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.errors = (this.errors + text).slice(-logLimit);
      onLog(text);
    });
    let length = 0;
    const decoder = new TextDecoder('utf-8', { fatal: true });
    this.child.stdout.on('data', (data: Buffer) => {
      try {
        decoder.decode(data, { stream: true });
      } catch {
        this.fail('The program wrote bytes that are not UTF-8.');
        this.kill();
      }
      const at = data.lastIndexOf('\n');
      length = at < 0 ? length + data.length : data.length - at;
      if (length <= lineLimit) return;
      this.fail('The program wrote a line of more than 1 MB.');
      this.kill();
    });
    createInterface({ input: this.child.stdout }).on('line', (line) => this.receive(line));
    this.child.stdin.on('error', () => {});
    this.child.once('error', (error) => this.fail(`The program did not start: ${error.message}.`));
    this.child.once('close', (status, signal) => {
      const log = lastMessage(this.errors);
      const ending = `The program ended with ${signal ?? `status ${status}`}`;
      this.fail(log ? `${ending}; its last error output is: ${log.slice(0, 300)}` : `${ending}.`);
    });
  }

  async hello(): Promise<Hello> {
    // Hello has no id.
    return parsed(helloAnswer, await this.request(0, { hello: { version: 1 } })).hello;
  }

  get running(): boolean {
    return this.ended === null;
  }

  newEpisode = (): number => this.nextId++;

  async reset(id: number, seed: number, split = 'train'): Promise<StateAnswer> {
    for (const start = Date.now(); ; ) {
      const answer = await this.request(id, { id, reset: { seed, split, noise: seed } });
      if (!busyAnswer.safeParse(answer).success) return parsed(resetAnswer, answer);
      if (Date.now() - start > this.limit * 1000)
        throw broken(`The program accepted no further episode within ${this.limit} s.`);
      // It has room when another episode ends.
      await Promise.race([once(this.room, 'free'), pause(200)]);
    }
  }

  async step(id: number, action: string): Promise<StepAnswer> {
    return parsed(stepAnswer, await this.request(id, { id, step: action }));
  }

  close(id: number): void {
    this.send({ id, close: true });
    this.room.emit('free');
  }

  /** The slowest answer to a reset or step in ms, and the longest answer in characters. */
  readonly measured = { slowest: 0, longest: 0 };

  /** Resolves when the program has exited. */
  async exited(): Promise<void> {
    if (this.child.exitCode === null && this.child.signalCode === null) await once(this.child, 'close');
  }

  /** Ends the input and resolves when the program has exited. Throws if it does not exit in time. */
  async endInput(): Promise<void> {
    const exited = once(this.child, 'close');
    this.child.stdin.end();
    await this.within(exited, 'The program did not exit after the end of its input');
  }

  /** Kills the program and its children. */
  kill(): void {
    try {
      if (this.child.pid !== undefined) process.kill(-this.child.pid, 'SIGKILL');
    } catch {
      // It has ended.
    }
  }

  private request(id: number, message: object): Promise<unknown> {
    if (this.ended) return Promise.reject(this.ended);
    const answer = new Promise<unknown>((resolve, reject) => this.pending.set(id, { resolve, reject }));
    this.send(message);
    const sent = performance.now();
    answer.then(
      () => {
        this.measured.slowest = Math.max(this.measured.slowest, id > 0 ? performance.now() - sent : 0);
      },
      () => {},
    );
    return this.within(answer, `The program did not answer ${JSON.stringify(message).slice(0, 100)}`);
  }

  private send(message: object): void {
    this.child.stdin.write(`${JSON.stringify(message)}\n`);
  }

  private async within<T>(work: Promise<T>, problem: string): Promise<T> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(broken(`${problem} within ${this.limit} s.`)), this.limit * 1000);
    });
    return Promise.race([work, late]).finally(() => clearTimeout(timer));
  }

  private receive(line: string): void {
    const message = parseMessage(line);
    this.measured.longest = Math.max(this.measured.longest, line.length);
    const pending = typeof message === 'string' ? undefined : this.pending.get(message.id ?? 0);
    if (typeof message === 'string') this.fail(message);
    else if (!pending) this.fail(`The program answered with an id that has no open request: ${line.slice(0, 200)}`);
    else {
      this.pending.delete(message.id ?? 0);
      if (message.error === undefined) pending.resolve(message);
      else pending.reject(broken(`The program reported an error: ${String(message.error).slice(0, 200)}`));
    }
  }

  private fail(problem: string): void {
    this.ended ??= broken(problem);
    for (const { reject } of this.pending.values()) reject(this.ended);
    this.pending.clear();
  }
}

/** Throws `directory_missing` if a program can't run in a folder. `spawn` would report a missing shell instead. */
export function requireFolder(directory: string): void {
  const missing = (problem: string) =>
    new Failure('directory_missing', problem, 'Choose the folder in which the command runs.');
  try {
    if (statSync(directory).isDirectory()) return;
  } catch (error) {
    const rejected = asFileFailure(error);
    if (!rejected) throw error;
    if (rejected.code === 'file_missing') throw missing(`The folder ${directory} was not found.`);
    throw missing(`The folder ${directory} can't be read: ${fileReason(error)}.`);
  }
  throw missing(`${directory} is not a folder.`);
}

const anyAnswer = z.looseObject({ id: z.int().optional(), error: z.unknown().optional() });

/** Returns what is wrong with a line that is not an answer. */
function parseMessage(line: string): z.infer<typeof anyAnswer> | string {
  try {
    return anyAnswer.parse(JSON.parse(line));
  } catch (error) {
    const reason = error instanceof SyntaxError ? messageOf(error) : 'it is not an object with an integer id';
    return `The program wrote an invalid line (${reason}): ${line.slice(0, 200)}`;
  }
}

/** Throws `environment_failed` with the first problem of an answer. */
function parsed<Schema extends z.ZodType>(schema: Schema, answer: unknown): z.infer<Schema> {
  const { data, error } = schema.safeParse(answer);
  if (!error) return data;
  throw broken(`Invalid answer: ${problemIn(answer, error)}.`);
}

const broken = (problem: string) =>
  new Failure('environment_failed', problem, 'See docs/formats/process-environment.md.');

/** Maximum seconds until a program is ready, and for each later answer. Models and data sets may load first. */
const startLimit = 60;

/** Starts a program and returns its answer to hello. Throws `environment_failed` or `directory_missing`. */
export async function startProgram(own: OwnCommand): Promise<{ program: EnvironmentProgram; hello: Hello }> {
  const program = new EnvironmentProgram(own, startLimit);
  try {
    return { program, hello: await program.hello() };
  } catch (error) {
    program.kill();
    throw error;
  }
}

/** Returns the last line of an error output that isn't part of a stack trace: Node prints its trace and version after the message. */
function lastMessage(text: string): string | undefined {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return lines.findLast((line) => !/^(\s|\}|Node\.js v)/.test(line)) ?? lines.at(-1);
}
