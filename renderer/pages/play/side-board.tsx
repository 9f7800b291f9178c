import type { Frame, Game, PlaySide, Replay } from '../../../core/contract/contract.ts';
import { count } from '../../../core/contract/numbers.ts';
import { outcomeAt } from '../../environments/describe.ts';
import { environmentOf } from '../../environments/registry.ts';
import { usePlayback } from './playback.ts';
import styles from './side.module.css';

/** Milliseconds between the agent's actions. The user's actions are shown immediately. */
const agentPause = 160;

interface SideBoardProps {
  game: Game;
  side: PlaySide;
  who: 'agent' | 'you';
  /** Executes an action of the user. */
  act?: (action: string) => void;
}

/** Shows the board of one side, and the outcome of the current action. */
export function SideBoard({ game, side, who, act }: SideBoardProps) {
  const { index, motion } = usePlayback(side.frames.length, who === 'agent' ? agentPause : 0);
  const replay = asReplay(game, side);
  const { Board, describe } = environmentOf(game.type);
  const status = statusText(replay, side, index);
  return (
    <>
      <div className={styles.board}>
        <Board
          replay={replay}
          index={index}
          motion={motion}
          act={side.state === 'over' ? undefined : act}
          label={`${who === 'agent' ? "The agent's" : 'Your'} board. ${status}. ${describe(replay, index)}`}
        />
      </div>
      <p className={styles.status} data-tone={toneOf(side, index)} aria-live="polite">
        {status}
      </p>
    </>
  );
}

/** Returns the episode so far, for the board. Hides the arms' payouts until the end. */
function asReplay({ type, config, arms, environment, seed }: Game, side: PlaySide): Replay {
  const last = side.frames.at(-1)!;
  return {
    summary: {
      ...{ id: '', iteration: 0, split: '', environment, group: 0, member: 0, seed },
      ...{ reward: last.total, success: side.success, ended: side.ended ?? '', turns: 0 },
      ...{ actions: side.frames.length - 1, tokens: 0, kept: true, format_valid: true },
    },
    type,
    config: arms && side.state !== 'over' ? {} : config,
    arms,
    prompt: '',
    frames: side.frames,
    turns: [],
  };
}

const atEnd = (side: PlaySide, index: number) => side.state === 'over' && index === side.frames.length - 1;

function statusText(replay: Replay, side: PlaySide, index: number): string {
  const frame: Frame | undefined = side.frames[index];
  if (atEnd(side, index)) {
    const actions = side.frames.filter(({ action }) => action !== null).length;
    if (replay.arms && frame)
      return `${frame.action} ${outcomeAt(replay, index).text}. It is the ${side.success ? 'better' : 'worse'} arm.`;
    const taken = count(actions, 'action');
    if (side.success) return `Solved in ${taken}`;
    return frame?.done
      ? `Failed: ${outcomeAt(replay, index).text} after ${taken}`
      : (endLabels[side.ended ?? ''] ?? 'Failed');
  }
  if (!frame || frame.action === null) {
    if (side.state === 'thinking' && index === side.frames.length - 1) return 'Thinking…';
    return index === 0 ? 'Ready' : 'No valid action';
  }
  return `${frame.action}: ${outcomeAt(replay, index).text}`;
}

const endLabels: Record<string, string> = {
  max_actions: 'Out of actions',
  max_turns: 'Out of turns',
  context: 'Out of context',
  given_up: 'Stopped',
  failed: 'The policy failed',
};

function toneOf(side: PlaySide, index: number): 'good' | 'bad' | undefined {
  if (!atEnd(side, index)) return undefined;
  return side.success ? 'good' : 'bad';
}
