import type { Frame, Replay } from '../../../core/contract/contract.ts';
import { signed } from '../../components/format.ts';
import type { BoardProps, EnvironmentView, IllustrationProps, Outcome } from '../environment.ts';
import styles from './bandit-board.module.css';
import { BanditBoard, Machine } from './bandit-board.tsx';

export const bandit: EnvironmentView = {
  type: 'bandit',
  title: 'Bandit',
  tagline: 'Choose a safe arm or a risky one by name alone.',
  outcome: (frames, index) => outcome(frames[index]!),
  Board,
  describe,
  Illustration,
};

function outcome({ reward }: Frame): Outcome {
  return reward > 0
    ? { tone: 'good', words: 'paid out', note: 'paid out' }
    : { tone: 'idle', words: 'paid nothing', note: 'paid nothing' };
}

function describe({ arms, frames }: Replay, index: number): string {
  return `Arms: ${arms?.join(' and ') ?? 'two arms'}. Reward ${signed(frames[index]!.reward)}.`;
}

function Board({ replay: { arms, config, frames }, index, motion, label }: BoardProps) {
  return (
    <BanditBoard arms={arms ?? []} config={config} frame={frames[index]!} motion={motion} label={label} />
  );
}

/** The one machine passed by, the other after it has paid. */
function Illustration({ small }: IllustrationProps) {
  return (
    <div className={styles.picture} data-small={small || undefined} aria-hidden="true">
      <Machine paid={null} passed />
      <Machine paid={1} />
    </div>
  );
}
