import type { Frame, Replay } from '../../../core/contract/contract.ts';
import { signed } from '../../components/format.ts';
import type { BoardProps, EnvironmentView, IllustrationProps, Outcome } from '../environment.ts';
import { armsOf } from './arms.ts';
import styles from './bandit-board.module.css';
import { BanditBoard, Machine } from './bandit-board.tsx';
import { banditPainter } from './bandit-painter.ts';

export const bandit: EnvironmentView = {
  type: 'bandit',
  title: 'Bandit',
  tagline: 'Choose a safe or a risky arm by its name.',
  bounds: () => [{ name: 'random', success: 0.5 }],
  paper: () => 1,
  outcome: (frames, index) => outcome(frames[index]!),
  Board,
  painter: banditPainter,
  describe,
  Illustration,
};

/** Returns the outcome of a pull. Choosing the better arm is a success, even if it paid nothing. */
function outcome({ reward, success }: Frame): Outcome {
  const paid = reward > 0 ? 'paid out' : 'paid nothing';
  return success
    ? { tone: 'good', text: `the better arm, ${paid}`, note: `chose the better arm, which ${paid}` }
    : { tone: 'idle', text: `not the better arm, ${paid}`, note: `not the better arm; it ${paid}` };
}

function describe({ arms, config, frames }: Replay, index: number): string {
  const descriptions = armsOf(arms ?? [], config).map(({ name, pays, better }) =>
    [name, pays && ` pays ${pays}`, better ? ', the better arm' : ''].join(''),
  );
  return `Arms: ${descriptions.join('; ') || 'unknown'}. Reward ${signed(frames[index]!.reward)}.`;
}

function Board({ replay: { arms, config, frames }, index, motion, label }: BoardProps) {
  return <BanditBoard arms={arms ?? []} config={config} frame={frames[index]!} motion={motion} label={label} />;
}

/** Draws an idle machine and a machine that has paid. */
function Illustration({ small }: IllustrationProps) {
  return (
    <div className={`${styles.picture} column`} data-small={small || undefined} aria-hidden="true">
      <Machine paid={null} passed />
      <Machine paid={1} />
    </div>
  );
}
