import type { PlaySide } from '../contract/contract.ts';
import { toFrames } from '../environments/replay.ts';
import type { EpisodeActions } from '../run-directory/episode.ts';

/** A player's attempt at a level, as the Play page shows it. */
export class Attempt {
  readonly side: PlaySide;
  private readonly type: string;
  private readonly initial: string;
  private readonly steps: EpisodeActions['steps'][number][] = [];

  constructor(type: string, initial: string, maxMoves: number) {
    this.type = type;
    this.initial = initial;
    this.side = { state: 'ready', frames: [], movesLeft: maxMoves, success: false, ended: null };
    this.side.frames = this.frames();
  }

  /** Adds a turn. `ended`: reason for the end of the attempt, or null. */
  add(turn: EpisodeActions['steps'][number], ended: string | null): void {
    this.steps.push(turn);
    const { side } = this;
    side.frames = this.frames();
    side.movesLeft -= turn.executed.length;
    side.success = turn.executed.at(-1)?.success ?? side.success;
    if (ended !== null) this.end(ended);
  }

  get moves(): number {
    return this.steps.reduce((sum, { executed }) => sum + executed.length, 0);
  }

  get over(): boolean {
    return this.side.state === 'over';
  }

  end(reason: string): void {
    this.side.state = 'over';
    this.side.ended = reason;
  }

  private frames() {
    const { type, initial, steps } = this;
    return toFrames({ type, initial, steps });
  }
}
