import { randomUUID } from 'node:crypto';
import type { Frame, HandGame } from '../contract/contract.ts';
import { Failure } from '../contract/failure.ts';
import type { EnvironmentProgram, Hello, StateAnswer } from './program.ts';

/** An episode of a program that the user plays, one action at a time. */
export class HandPlay {
  private readonly program: EnvironmentProgram;
  private readonly hello: Hello;
  private readonly seed: number;
  private readonly episode: number;
  private readonly frames: Frame[] = [];
  private answer: StateAnswer;
  readonly id = randomUUID();

  private constructor(program: EnvironmentProgram, hello: Hello, seed: number, episode: number, start: StateAnswer) {
    this.program = program;
    this.hello = hello;
    this.seed = seed;
    this.episode = episode;
    this.answer = start;
    this.add({ action: null, reward: 0, effective: false, done: false, success: false });
  }

  /** Starts an episode. `hello`: the program's answer. Throws `environment_failed`. */
  static async begin(program: EnvironmentProgram, hello: Hello, seed: number): Promise<HandPlay> {
    const episode = program.newEpisode();
    const start = await program.reset(episode, seed);
    return new HandPlay(program, hello, seed, episode, start);
  }

  get state(): Omit<HandGame, 'environmentId'> {
    const { id, seed, actions, frames } = this;
    const { done, success } = frames.at(-1)!;
    return { id, seed, actions, observation: this.answer.observation, frames: [...frames], done, success };
  }

  /** Executes an action. Throws `move_invalid` without sending it if it isn't valid or the episode is over, or `environment_failed`. */
  async act(text: string): Promise<void> {
    const { actions } = this;
    const action = actions ? actions.find((name) => name.toLowerCase() === text.toLowerCase()) : text;
    if (this.frames.at(-1)!.done) throw invalidMove('The episode has ended', 'Start a new episode.');
    if (action === undefined) throw invalidMove(`"${text}" is not an action`, `Actions: ${actions?.join(', ')}.`);
    const before = this.answer;
    const answer = await this.program.step(this.episode, action);
    this.answer = answer;
    const changed = answer.observation !== before.observation || answer.board !== before.board;
    const { reward, done, success = false, effective = changed } = answer;
    this.add({ action, reward, effective, done, success });
    if (done) this.program.close(this.episode);
  }

  private get actions(): string[] | null {
    return this.answer.actions ?? this.hello.actions ?? null;
  }

  private add(outcome: Pick<Frame, 'action' | 'reward' | 'effective' | 'done' | 'success'>): void {
    const { frames } = this;
    const { board, observation } = this.answer;
    frames.push({
      ...outcome,
      turn: Math.max(0, frames.length - 1),
      step: frames.length === 0 ? -1 : 0,
      board: board ?? observation,
      total: (frames.at(-1)?.total ?? 0) + outcome.reward,
      ...{ slipped: false, deadEnd: false, facts: [] },
    });
  }
}

const invalidMove = (reason: string, hint: string) => new Failure('move_invalid', `${reason}.`, hint);
