import type { Advice, RunSummary } from '../../../../core/contract/contract.ts';
import { shortValue } from '../../../../core/contract/run-names.ts';
import { lossText } from '../../../../core/contract/trap-words.ts';
import { settingFacts } from '../../../../core/facts/setting-facts.ts';
import { approximateDuration } from '../../../components/estimated-time.tsx';
import { useRun } from '../../../views/run-view.tsx';
import { ActionButton } from './advice.tsx';
import styles from './next-step.module.css';

interface NextStepProps {
  run: RunSummary;
  advice: Advice;
  alertId: string | undefined;
  /** Whether the state is a warning or worse, which makes the button primary. */
  urgent: boolean;
}

/** Shows the button of the recommended action, with its effect and cost below it. */
export function NextStep({ run, advice, alertId, urgent }: NextStepProps) {
  const series = useRun((state) => state.series);
  const cost = costOf(advice, run.iteration, series.get('time/iteration')?.values() ?? []);
  return (
    <div className={styles.step}>
      <ActionButton run={run} advice={{ ...advice, preferred: urgent }} alertId={alertId} />
      <p className="muted small" title={advice.title}>
        {cost}
      </p>
    </div>
  );
}

const lowered = (title: string) => `${title.charAt(0).toLowerCase()}${title.slice(1)}`;

/** Returns `Loses 12 iterations, about 3 min; learning rate 1.7e-4`. `seconds`: the times of the run's iterations. */
export function costOf({ action, why }: Pick<Advice, 'action' | 'why'>, iteration: number, seconds: ArrayLike<number>) {
  if (action.kind === 'command') return why;
  const { checkpoint, changes } = action;
  if (checkpoint === null) return 'The checkpoint is not known yet.';
  const lost = Math.max(0, iteration - checkpoint);
  const perIteration = median(seconds);
  const time = Number.isNaN(perIteration) || lost === 0 ? '' : `, ${approximateDuration(perIteration * lost)}`;
  const loss = lossText(checkpoint, iteration);
  const settings = changes
    .map(({ path, value }) => `; ${lowered(settingFacts(path).title)} ${shortValue(value)}`)
    .join('');
  return `${loss.charAt(0).toUpperCase()}${loss.slice(1)}${time}${settings}`;
}

function median(values: ArrayLike<number>): number {
  const sorted = Array.from(values)
    .filter(Number.isFinite)
    .sort((a, b) => a - b);
  return sorted[sorted.length >> 1] ?? Number.NaN;
}
