import { useMemo } from 'react';
import type { Frame } from '../../../core/contract/contract.ts';
import type { BoardProps, EnvironmentView, IllustrationProps, Outcome } from '../environment.ts';
import { moveAt, trail } from '../grid.ts';
import { TextBoard } from '../text-board.tsx';
import { describeLake, lakeAgent, parseLake, surfaceAt } from './lake.ts';
import styles from './lake-board.module.css';
import { LakeBoard } from './lake-board.tsx';
import { lakePainter } from './lake-painter.ts';

export const frozenLake: EnvironmentView = {
  type: 'frozen-lake',
  title: 'FrozenLake',
  letters: { P: 'player', _: 'ice', O: 'hole', G: 'goal', X: 'player in a hole', '√': 'player on the goal' },
  tagline: 'Cross the ice to the star without falling into a hole.',
  bounds,
  outcome: (frames, index) => outcome(frames[index]!),
  Board,
  painter: lakePainter,
  describe: ({ frames }, index) => {
    const board = frames[index]?.board ?? '';
    const lake = parseLake(board);
    return lake ? describeLake(lake) : board;
  },
  Illustration,
};

function outcome(frame: Frame): Outcome {
  const slip = frame.slipped ? 'slipped and ' : '';
  const surface = surfaceAt(frame);
  if (surface === 'goal') return { tone: 'good', text: `${slip}reached the goal`, note: 'reached the goal' };
  if (surface === 'hole') return { tone: 'bad', text: `${slip}fell into a hole`, note: 'fell into a hole' };
  if (frame.slipped) return { tone: 'slip', text: 'slipped' };
  return frame.effective ? { tone: 'plain', text: 'moved' } : { tone: 'idle', text: 'blocked', note: 'blocked' };
}

function Board({ replay: { frames }, index, motion, label }: BoardProps) {
  const { moving } = motion;
  const board = frames[index]?.board ?? '';
  const lake = useMemo(() => parseLake(board), [board]);
  const move = useMemo(() => moveAt(frames, index, lakeAgent), [frames, index]);
  const path = useMemo(() => trail(frames, moving ? index - 1 : index, lakeAgent), [frames, index, moving]);
  if (!lake) return <TextBoard text={board} />;
  return <LakeBoard lake={lake} move={move} motion={motion} path={path} label={label} />;
}

const picture = parseLake('P__O\n_O__\n___O\nO__G')!;
const slip = {
  from: { row: 0, column: 0 },
  to: { row: 1, column: 0 },
  intent: { row: 0, column: 1 },
  slipped: true,
};

/** Returns measured success rates. On slippery ice, the optimum is for a policy that can't foresee slips. */
function bounds(config: Record<string, unknown>, maxActions: number) {
  if (config.size !== 4 || config.p !== 0.8 || maxActions !== 10) return [];
  if (config.is_slippery !== true) return [{ name: 'random', success: 0.21 }];
  const slides = Math.abs(Number(config.success_rate) - 1 / 3) < 0.01;
  return slides
    ? [
        { name: 'random', success: 0.22 },
        { name: 'best possible', success: 0.48 },
      ]
    : [];
}

/** Shows a slip if the ice is slippery. */
function Illustration({ config, small }: IllustrationProps) {
  const slippery = config.is_slippery === true && !small;
  return (
    <div className={styles.picture} data-small={small || undefined}>
      {slippery ? <LakeBoard lake={{ ...picture, agent: slip.to }} move={slip} /> : <LakeBoard lake={picture} />}
    </div>
  );
}
