import { useCallback, useRef } from 'react';
import type { Frame } from '../../../core/contract/contract.ts';
import { number, signed } from '../../components/format.ts';
import { arrived, type Motion, useMotion } from '../motion.ts';
import styles from './bandit-board.module.css';

interface BanditBoardProps {
  /** Names in the order shown to the agent. */
  arms: readonly string[];
  config: Record<string, unknown>;
  frame: Frame;
  /** Of the pull. */
  motion: Motion;
  /** The board in words. */
  label: string;
}

/** Two slot machines side by side; the one that was chosen is pulled and shows what it paid. */
export function BanditBoard({ arms, config, frame, motion, label }: BanditBoardProps) {
  return (
    <div className={styles.bandit} role="img" aria-label={label}>
      {arms.map((arm, index) => {
        const chosen = frame.action !== null && frame.action.toLowerCase() === arm.toLowerCase();
        return (
          <div className={styles.arm} key={arm} data-chosen={chosen || undefined}>
            <span className={styles.place}>{index + 1}</span>
            <Machine
              motion={chosen ? motion : arrived}
              paid={chosen && !motion.moving ? frame.reward : null}
              passed={frame.action !== null && !chosen}
            />
            <strong className={styles.name}>{arm}</strong>
            <span className={styles.pays}>{pays(arm, config)}</span>
          </div>
        );
      })}
    </div>
  );
}

interface MachineProps {
  /** Of the lever's way down and up again. */
  motion?: Motion;
  /** Null before the payout. */
  paid: number | null;
  /** The other one was chosen. */
  passed?: boolean;
}

const stem = (lever: number) => `M93 62h9V${30 + lever}`;

export function Machine({ motion = arrived, paid, passed = false }: MachineProps) {
  const stick = useRef<SVGPathElement>(null);
  const knob = useRef<SVGCircleElement>(null);
  const draw = useCallback((progress: number) => {
    const lever = progress < 1 ? Math.sin(Math.PI * progress) * 24 : 0;
    stick.current?.setAttribute('d', stem(lever));
    knob.current?.setAttribute('cy', String(26 + lever));
  }, []);
  useMotion(motion, draw);
  return (
    <svg
      viewBox="0 0 120 108"
      className={styles.machine}
      data-passed={passed || undefined}
      aria-hidden="true"
    >
      <path ref={stick} className={styles.stem} d={stem(0)} />
      <circle ref={knob} className={styles.knob} cx={102} cy={26} r={8} />
      <rect className={styles.case} x={10} y={14} width={84} height={86} rx={12} />
      <rect className={styles.window} x={20} y={28} width={64} height={34} rx={6} />
      <text
        className={styles.text}
        data-paid={paid === null ? undefined : paid > 0 ? 'yes' : 'no'}
        x={52}
        y={46}
      >
        {paid === null ? (motion.moving ? '· · ·' : '?') : signed(paid)}
      </text>
      <rect className={styles.slot} x={32} y={78} width={40} height={8} rx={4} />
      {paid !== null && paid > 0 && <circle className={styles.coin} cx={52} cy={82} r={9} />}
    </svg>
  );
}

/** What the configuration says an arm pays; the agent isn't told. */
function pays(arm: string, config: Record<string, unknown>): string {
  const is = (key: string) =>
    typeof config[key] === 'string' && config[key].toLowerCase() === arm.toLowerCase();
  const value = (key: string) => (typeof config[key] === 'number' ? config[key] : Number.NaN);
  if (is('lo_arm_name')) return `always ${number(value('lo_arm_score')).replace(/0+$/, '')}`;
  if (is('hi_arm_name')) {
    const chance = Math.round(value('hi_arm_hiscore_prob') * 100);
    return `${signed(value('hi_arm_hiscore')).slice(1)} in ${chance} % of pulls, else ${signed(value('hi_arm_loscore'))}`;
  }
  return '';
}
