import { randomUUID } from 'node:crypto';
import type { ApiError, Game as GameState, PlayResult, PlayTurn, Sampling } from '../contract/contract.ts';
import { asFailure, Failure } from '../contract/failure.ts';
import { ownSettings, samplingOf } from '../evaluations/target.ts';
import type { EnvironmentConfig, RunConfig } from '../run-config/schema.ts';
import type { EnvironmentProcess, EnvironmentStart } from '../trainer/environment.ts';
import type { EpisodeProcess } from '../trainer/episode.ts';
import { playEpisode } from './agent.ts';
import { Attempt } from './attempt.ts';
import type { PolicyThread } from './policy-thread.ts';

export interface GameParts {
  runId: string;
  config: RunConfig;
  environment: EnvironmentConfig;
  /** Plays the agent's side. */
  episode: EpisodeProcess;
  /** Plays the user's side. */
  level: EnvironmentProcess;
  /** Called after every change. */
  onChange: (game: GameState) => void;
  /** Called when the user's first attempt at a level ends. */
  onUserResult: (results: readonly PlayResult[]) => void;
}

interface Opening {
  checkpoint: number;
  level: number;
}

interface Agent {
  attempt: Attempt;
  turns: PlayTurn[];
  /** Response in progress. */
  text: string | null;
  failure: ApiError | null;
  abort: AbortController;
}

/** A policy and a user play the same level, each in its own environment. */
export class Game {
  readonly id = randomUUID();
  readonly runId: string;
  private readonly parts: GameParts;
  private policy: PolicyThread;
  private checkpoint: number;
  private level: number;
  private sampling: Sampling;
  private start!: EnvironmentStart;
  private user!: Attempt;
  private agent!: Agent;
  private playing: Promise<void> = Promise.resolve();
  private results = new Map<number, PlayResult>();
  private closed = false;
  /** Serializes user requests. */
  private last: Promise<unknown> = Promise.resolve();

  private constructor(parts: GameParts, policy: PolicyThread, { checkpoint, level }: Opening) {
    this.parts = parts;
    this.runId = parts.runId;
    this.policy = policy;
    this.checkpoint = checkpoint;
    this.level = level;
    this.sampling = samplingOf(ownSettings(parts.config));
  }

  /** Takes ownership of policy and processes. Throws `level_not_found`. */
  static async begin(parts: GameParts, policy: PolicyThread, opening: Opening): Promise<Game> {
    const game = new Game(parts, policy, opening);
    await game.enterLevel(opening.level);
    return game;
  }

  get state(): GameState {
    const { environment } = this.parts;
    const { attempt, turns, text, failure } = this.agent;
    return {
      id: this.id,
      runId: this.runId,
      checkpoint: this.checkpoint,
      environment: environment.label,
      type: environment.type,
      config: environment.config,
      actions: this.start.actions,
      arms: this.start.arms,
      level: this.level,
      seed: this.seedOf(this.level),
      sampling: this.sampling,
      maxMoves: environment.max_actions,
      maxTurns: environment.max_turns,
      maxActionsPerTurn: environment.max_actions_per_turn,
      agent: { ...attempt.side, turns: [...turns], text, failure },
      you: { ...this.user.side },
      results: [...this.results.values()].sort((a, b) => a.level - b.level),
    };
  }

  /** Starts the agent on the level, in the background. */
  startAgent(sampling: Sampling): Promise<GameState> {
    return this.serialize(() => this.beginAgent(sampling));
  }

  stopAgent(): Promise<GameState> {
    return this.serialize(async () => {
      if (!this.isPlaying) return;
      await this.abortAgent();
      this.agent.attempt.end('given_up');
      this.agent.text = null;
    });
  }

  /** Executes the user's move. If `sampling` is given, also starts the agent if it has not started yet. Throws `move_invalid`. */
  move(name: string, sampling?: Sampling): Promise<GameState> {
    return this.serialize(async () => {
      const { user, agent } = this;
      const { actions } = this.start;
      const action = actions.length === 0 ? name : actions.find((each) => each.toLowerCase() === name.toLowerCase());
      if (action === undefined) throw invalidMove(`"${name}" is not a valid action`, `Actions: ${actions.join(', ')}.`);
      if (user.over) throw invalidMove('The level has ended', 'Restart it, or play another level.');
      const outcome = await this.parts.level.step(action);
      const outOfMoves = user.side.movesLeft <= 1 ? 'max_actions' : null;
      user.add({ executed: [outcome], penalty: 0 }, outcome.done ? 'done' : outOfMoves);
      if (user.over) this.countUser();
      if (sampling && agent.attempt.side.state === 'ready') await this.beginAgent(sampling);
    });
  }

  /** Restarts the user's side of the level. */
  restart(): Promise<GameState> {
    return this.serialize(async () => {
      this.countStartedAttempt();
      await this.resetUser(this.level);
    });
  }

  /** Switches both to another level. Throws `level_not_found` and keeps the current level. */
  setLevel(level: number): Promise<GameState> {
    return this.serialize(async () => {
      await this.abortAgent();
      this.countStartedAttempt();
      const before = this.level;
      try {
        await this.enterLevel(level);
      } catch (error) {
        await this.enterLevel(before);
        throw error;
      }
    });
  }

  /** Switches to another policy, takes ownership of it and clears the agent's results. */
  replacePolicy(policy: PolicyThread, checkpoint: number): Promise<GameState> {
    return this.serialize(async () => {
      await this.abortAgent();
      await this.policy.close();
      if (this.closed) {
        await policy.close();
        throw gameUnknown();
      }
      this.policy = policy;
      this.checkpoint = checkpoint;
      for (const [level, result] of this.results) this.results.set(level, { ...result, agent: null });
      this.resetAgent();
    });
  }

  async close(): Promise<void> {
    this.closed = true;
    this.agent.abort.abort();
    this.parts.episode.close();
    this.parts.level.close();
    await this.policy.close();
    await this.playing;
  }

  private get isPlaying(): boolean {
    return this.agent.attempt.side.state === 'thinking';
  }

  private async beginAgent(sampling: Sampling): Promise<void> {
    await this.abortAgent();
    this.sampling = sampling;
    this.resetAgent();
    this.agent.attempt.side.state = 'thinking';
    this.playing = this.play(this.agent);
  }

  private async play(agent: Agent): Promise<void> {
    const { attempt } = agent;
    const { episode, config } = this.parts;
    const { max_response_tokens: maxTokens } = config.rollout;
    const { signal } = agent.abort;
    try {
      await playEpisode(this.policy, episode, {
        ...{ level: this.level, maxTokens, signal, sampling: this.sampling },
        onText: (text) => {
          agent.text = text;
          this.publish();
        },
        onTurn: (turn, result) => {
          agent.turns.push(turn);
          agent.text = null;
          attempt.add(result.turn, result.ended);
          // The last turn is published after it is counted.
          if (!attempt.over) this.publish();
        },
      });
      this.count('agent', attempt);
    } catch (error) {
      if (signal.aborted) return;
      attempt.end('failed');
      agent.failure = asFailure(error).toApiError();
    }
    this.publish();
  }

  /** Stops the agent and waits. */
  private async abortAgent(): Promise<void> {
    this.agent.abort.abort();
    await this.playing;
  }

  private async enterLevel(level: number): Promise<void> {
    await this.resetUser(level);
    this.level = level;
    this.resetAgent();
  }

  private async resetUser(level: number): Promise<void> {
    this.start = await this.parts.level.reset(this.seedOf(level));
    this.user = this.newAttempt();
  }

  private resetAgent(): void {
    const abort = new AbortController();
    this.agent = { attempt: this.newAttempt(), turns: [], text: null, failure: null, abort };
  }

  private newAttempt(): Attempt {
    const { type, max_actions: maxMoves } = this.parts.environment;
    return new Attempt(type, this.start.initial, maxMoves);
  }

  private seedOf(level: number): number {
    return this.parts.config.levels.validation_seed + level - 1;
  }

  /** Counts an unfinished attempt too, so that levels cannot be practiced. */
  private countStartedAttempt(): void {
    if (this.user.moves > 0) this.countUser();
  }

  private countUser(): void {
    if (this.count('you', this.user)) this.parts.onUserResult([...this.results.values()]);
  }

  /** Only the first attempt counts. Returns whether this attempt is the first. */
  private count(player: 'agent' | 'you', { side, moves }: Attempt): boolean {
    const result = this.results.get(this.level) ?? { level: this.level, agent: null, you: null };
    if (result[player]) return false;
    this.results.set(this.level, { ...result, [player]: { success: side.success, moves } });
    return true;
  }

  private async serialize(act: () => Promise<void>): Promise<GameState> {
    const done = this.last.then(act);
    this.last = done.catch(() => {});
    await done;
    this.publish();
    return this.state;
  }

  private publish(): void {
    this.parts.onChange(this.state);
  }
}

export const gameUnknown = () =>
  new Failure('game_unknown', 'This play session has ended.', 'Open it again from the Play page.');

const invalidMove = (reason: string, hint: string) => new Failure('move_invalid', `${reason}.`, hint);
