import { randomUUID } from 'node:crypto';
import type { ApiError, Game as GameState, PlayResult, PlaySide, PlayTurn } from '../contract/contract.ts';
import { asFailure, Failure } from '../contract/failure.ts';
import type { RunConfig } from '../run-config/schema.ts';
import type { EnvironmentProcess } from '../trainer/environment.ts';
import { type EpisodeRules, playEpisode } from './agent.ts';
import type { PolicyThread } from './policy-thread.ts';
import { Seat } from './seat.ts';

export interface GameParts {
  runId: string;
  config: RunConfig;
  rules: EpisodeRules;
  /** Environments of the agent and the user. */
  environments: { agent: EnvironmentProcess; you: EnvironmentProcess };
  /** Called on every change. */
  changed: (game: GameState) => void;
  /** Called when the user's first attempt at a level ends. */
  played: (results: readonly PlayResult[]) => void;
}

interface Opening {
  checkpoint: number;
  level: number;
}

/** A policy and a user play the same level, each in its own environment. */
export class Game {
  readonly id = randomUUID();
  readonly runId: string;
  private readonly parts: GameParts;
  private policy: PolicyThread;
  private checkpoint: number;
  private level: number;
  private temperature: number;
  private seats!: { agent: Seat; you: Seat };
  private agent: { turns: PlayTurn[]; text: string | null; failure: ApiError | null; attempt: number };
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
    this.temperature = parts.config.evaluation.temperature;
    this.agent = { turns: [], text: null, failure: null, attempt: 0 };
  }

  /** Takes ownership of policy and environments. Throws `level_not_found`. */
  static async begin(parts: GameParts, policy: PolicyThread, opening: Opening): Promise<Game> {
    const game = new Game(parts, policy, opening);
    await game.sitDown(opening.level);
    return game;
  }

  get state(): GameState {
    const { environment } = this.parts.rules;
    const { agent, you } = this.seats;
    const { turns, text, failure } = this.agent;
    return {
      id: this.id,
      runId: this.runId,
      checkpoint: this.checkpoint,
      environment: environment.label,
      type: environment.type,
      config: environment.config,
      actions: you.actions,
      arms: you.arms,
      level: this.level,
      seed: this.seedOf(this.level),
      temperature: this.temperature,
      maxMoves: environment.max_actions,
      maxTurns: environment.max_turns,
      agent: { ...copyOf(agent.side), turns: [...turns], text, failure },
      you: copyOf(you.side),
      results: [...this.results.values()].sort((a, b) => a.level - b.level),
    };
  }

  /** Starts the agent on the level, in the background. */
  letAgentPlay(temperature: number): Promise<GameState> {
    return this.inTurn(() => this.beginAgent(temperature));
  }

  /** Stops the agent. */
  stopAgent(): Promise<GameState> {
    return this.inTurn(async () => {
      if (this.seats.agent.side.state !== 'thinking') return;
      await this.giveUp();
      this.seats.agent.end('given_up');
      this.agent.text = null;
    });
  }

  /** The user's move. With a temperature, also starts an idle agent. Throws `move_invalid`. */
  move(action: string, temperature?: number): Promise<GameState> {
    return this.inTurn(async () => {
      const { agent, you } = this.seats;
      const move = you.moveOf(action);
      if (move === undefined) throw invalidMove(`"${action}" is no move here`, you.actions);
      if (you.over) throw invalidMove('The level has ended', you.actions);
      await you.step(move, you.side.frames.length - 1, 0);
      if (you.over) this.count('you', you.side);
      if (temperature !== undefined && agent.side.state === 'ready') await this.beginAgent(temperature);
    });
  }

  /** Restarts the user's side of the level. */
  restart(): Promise<GameState> {
    return this.inTurn(async () => {
      const { you } = this.seats;
      // Started attempts count, so that levels cannot be practiced.
      if (!you.over && you.side.frames.length > 1) this.count('you', you.side);
      this.seats.you = await this.seat('you', this.level);
    });
  }

  /** Switches both to another level. Throws `level_not_found` and keeps the current level. */
  goTo(level: number): Promise<GameState> {
    return this.inTurn(async () => {
      await this.giveUp();
      const { you } = this.seats;
      if (!you.over && you.side.frames.length > 1) this.count('you', you.side);
      const before = this.level;
      try {
        await this.sitDown(level);
      } catch (error) {
        await this.sitDown(before);
        throw error;
      }
    });
  }

  /** Switches to another policy, takes ownership and clears earlier results. */
  replacePolicy(policy: PolicyThread, checkpoint: number): Promise<GameState> {
    return this.inTurn(async () => {
      await this.giveUp();
      await this.policy.close();
      if (this.closed) {
        await policy.close();
        throw gameUnknown();
      }
      this.policy = policy;
      this.checkpoint = checkpoint;
      for (const [level, result] of this.results) this.results.set(level, { ...result, agent: null });
      this.seats.agent = await this.seat('agent', this.level);
      this.agent = { turns: [], text: null, failure: null, attempt: this.agent.attempt + 1 };
    });
  }

  async close(): Promise<void> {
    this.closed = true;
    this.agent.attempt += 1;
    const { agent, you } = this.parts.environments;
    agent.close();
    you.close();
    await this.policy.close();
    await this.playing;
  }

  private async beginAgent(temperature: number): Promise<void> {
    await this.giveUp();
    this.temperature = temperature;
    this.seats.agent = await this.seat('agent', this.level);
    this.seats.agent.side.state = 'thinking';
    this.agent = { turns: [], text: null, failure: null, attempt: this.agent.attempt + 1 };
    this.playing = this.play(this.agent.attempt);
  }

  private async play(attempt: number): Promise<void> {
    const { agent } = this.seats;
    const living = () => this.agent.attempt === attempt;
    const told = {
      text: (text: string) => {
        if (!living()) return;
        this.agent.text = text;
        this.tell();
      },
      turn: (turn: PlayTurn) => {
        if (!living()) return;
        this.agent.turns.push(turn);
        this.agent.text = null;
        // The last turn is published after it is counted.
        if (!agent.over) this.tell();
      },
    };
    try {
      await playEpisode(this.policy, agent, this.parts.rules, this.temperature, told, living);
      if (living()) this.count('agent', agent.side);
    } catch (error) {
      if (!living()) return;
      agent.end('failed');
      this.agent.failure = asFailure(error).toApiError();
    }
    if (living()) this.tell();
  }

  /** Stops the agent and waits. */
  private async giveUp(): Promise<void> {
    if (this.seats.agent.side.state !== 'thinking') return;
    this.agent.attempt += 1;
    this.policy.abort();
    await this.playing;
  }

  private async sitDown(level: number): Promise<void> {
    const [agent, you] = await Promise.all([this.seat('agent', level), this.seat('you', level)]);
    this.level = level;
    this.seats = { agent, you };
    this.agent = { turns: [], text: null, failure: null, attempt: this.agent.attempt + 1 };
  }

  private seat(who: 'agent' | 'you', level: number): Promise<Seat> {
    const { environments, rules } = this.parts;
    return Seat.take(environments[who], this.seedOf(level), rules.environment.max_actions);
  }

  private seedOf(level: number): number {
    return this.parts.config.levels.validation_seed + level - 1;
  }

  /** Only the first attempt counts. */
  private count(who: 'agent' | 'you', { success, frames }: PlaySide): void {
    const known = this.results.get(this.level) ?? { level: this.level, agent: null, you: null };
    if (known[who]) return;
    const moves = frames.filter(({ action }) => action !== null).length;
    this.results.set(this.level, { ...known, [who]: { success, moves } });
    if (who === 'you') this.parts.played([...this.results.values()]);
  }

  private async inTurn(act: () => Promise<void>): Promise<GameState> {
    const done = this.last.then(act);
    this.last = done.catch(() => {});
    await done;
    this.tell();
    return this.state;
  }

  private tell(): void {
    this.parts.changed(this.state);
  }
}

export const gameUnknown = () =>
  new Failure('game_unknown', 'That game has ended.', 'Open it again from the Play page.');

const copyOf = (side: PlaySide): PlaySide => ({ ...side, frames: [...side.frames] });

const invalidMove = (what: string, actions: readonly string[]) =>
  new Failure('move_invalid', `${what}.`, `Moves: ${actions.join(', ')}.`);
