import type { Frame, PlaySide } from '../contract/contract.ts';
import type { EnvironmentProcess, EnvironmentStart, EnvironmentStep } from '../trainer/environment.ts';

/** A player's place at a level: the current environment and the pictures of all states so far. */
export class Seat {
  readonly side: PlaySide;
  /** What the environment shows now. */
  observation: string;
  readonly arms: string[] | null;
  readonly actions: string[];
  private readonly process: EnvironmentProcess;
  private readonly drawn: boolean;

  private constructor(process: EnvironmentProcess, start: EnvironmentStart, maxMoves: number) {
    this.process = process;
    this.observation = start.observation;
    this.arms = start.info.arms ?? null;
    this.actions = start.actions;
    // A choice between arms has no board.
    this.drawn = this.arms === null;
    const first = picture({ turn: 0, step: -1, board: this.board, total: 0 });
    this.side = { state: 'ready', frames: [first], movesLeft: maxMoves, success: false, ended: null };
  }

  /** Begins a level. Throws as `reset` of the environment does. */
  static async take(process: EnvironmentProcess, seed: number, maxMoves: number): Promise<Seat> {
    return new Seat(process, await process.reset(seed), maxMoves);
  }

  /** Returns the action name for a move, ignoring case; free text is returned unchanged. Undefined if unknown. */
  moveOf(action: string): string | undefined {
    if (this.actions.length === 0) return action;
    return this.actions.find((name) => name.toLowerCase() === action.toLowerCase());
  }

  /** Makes a move and gives what came of it; `turn` and `step` as frames have them. */
  async step(action: string, turn: number, step: number): Promise<EnvironmentStep> {
    const outcome = await this.process.step(action);
    const { reward, done, info } = outcome;
    this.observation = outcome.observation;
    const { effective, slipped, success } = info;
    const flags = { reward, effective, slipped, success, done };
    const total = this.total + reward;
    this.side.frames.push({ ...picture({ turn, step, board: this.board, total }), action, ...flags });
    this.side.movesLeft -= 1;
    this.side.success = success;
    if (done) this.end('done');
    else if (this.side.movesLeft <= 0) this.end('max_actions');
    return outcome;
  }

  /** Adds a penalty to what the turn brought; one without a move gets a picture of its own. */
  endTurn(turn: number, penalty: number): void {
    const last = this.side.frames.at(-1)!;
    if (last.turn === turn && last.action !== null) last.total += penalty;
    else this.side.frames.push(picture({ turn, step: -1, board: this.board, total: this.total + penalty }));
  }

  get over(): boolean {
    return this.side.state === 'over';
  }

  end(how: string): void {
    this.side.state = 'over';
    this.side.ended = how;
  }

  private get total(): number {
    return this.side.frames.at(-1)!.total;
  }

  private get board(): string | null {
    return this.drawn ? this.observation : null;
  }
}

function picture({ turn, step, board, total }: Pick<Frame, 'turn' | 'step' | 'board' | 'total'>): Frame {
  return {
    ...{ turn, step, board, total },
    action: null,
    reward: 0,
    effective: false,
    slipped: false,
    done: false,
    success: false,
    deadEnd: false,
    facts: [],
  };
}
