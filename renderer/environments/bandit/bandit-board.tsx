import { useCallback, useRef } from 'react';
import type { Frame } from '../../../core/contract/contract.ts';
import { signed } from '../../components/format.ts';
import { arrived, type Motion, useMotion } from '../motion.ts';
import { Shapes } from '../shapes.tsx';
import { armsOf, sameArm } from './arms.ts';
import styles from './bandit-board.module.css';
import { body, coin, knob, stem } from './machine-shapes.ts';

interface BanditBoardProps {
  /** Names in the order shown to the agent. */
  arms: readonly string[];
  config: Record<string, unknown>;
  frame: Frame;
  /** Reward of the pull. */
  motion: Motion;
  /** Text alternative of the board. */
  label: string;
}

/** Draws slot machines side by side; the chosen one shows its payout. */
export function BanditBoard({ arms, config, frame, motion, label }: BanditBoardProps) {
  return (
    <div className={styles.bandit} role="img" aria-label={label}>
      {armsOf(arms, config).map(({ name, pays, mean, better }, index) => {
        const chosen = sameArm(frame.action, name);
        return (
          <div className={`${styles.arm} row column`} key={name} data-chosen={chosen || undefined}>
            <span className={styles.number}>{index + 1}</span>
            <Machine
              motion={chosen ? motion : arrived}
              paid={chosen && !motion.moving ? frame.reward : null}
              passed={frame.action !== null && !chosen}
            />
            <strong className={styles.name}>{name}</strong>
            <span className={styles.pays}>{pays}</span>
            <span className={styles.mean} data-better={better || undefined}>
              {mean === null ? '' : `${signed(mean)} per pull on average${better ? ': the better arm' : ''}`}
            </span>
          </div>
        );
      })}
    </div>
  );
}

interface MachineProps {
  motion?: Motion;
  /** Null before the payout. */
  paid: number | null;
  /** True if another machine was chosen. */
  passed?: boolean;
}

export function Machine({ motion = arrived, paid, passed = false }: MachineProps) {
  const stemPath = useRef<SVGPathElement>(null);
  const knobPath = useRef<SVGPathElement>(null);
  const draw = useCallback((progress: number) => {
    const pull = progress < 1 ? Math.sin(Math.PI * progress) * 24 : 0;
    stemPath.current?.setAttribute('d', stem(pull));
    knobPath.current?.setAttribute('d', knob(pull));
  }, []);
  useMotion(motion, draw);
  return (
    <svg viewBox="0 0 120 108" className={styles.machine} data-passed={passed || undefined} aria-hidden="true">
      <path ref={stemPath} className={styles.stem} d={stem(0)} />
      <path ref={knobPath} className={styles.knob} d={knob(0)} />
      <Shapes of={body} styles={styles} />
      <text className={styles.text} data-paid={paid === null ? undefined : paid > 0 ? 'yes' : 'no'} x={52} y={46}>
        {paid === null ? (motion.moving ? '· · ·' : '?') : signed(paid)}
      </text>
      {paid !== null && paid > 0 && <Shapes of={[coin]} styles={styles} />}
    </svg>
  );
}
