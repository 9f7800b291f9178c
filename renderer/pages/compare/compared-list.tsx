import type { RunSummary } from '../../../core/contract/contract.ts';
import { formatRoute } from '../../base/routes.ts';
import { IconButton, statusLabel } from '../../components/basics.tsx';
import { percent } from '../../components/format.ts';
import { successOf } from '../../components/run-facts.ts';
import type { ComparedRun } from '../../views/compared-runs.ts';
import styles from './compare-page.module.css';

/** A compared run with its line style on every chart. */
export interface Compared extends ComparedRun {
  run: RunSummary;
  color: string;
  dash?: 'dashed' | 'dotted';
}

interface ListProps {
  compared: readonly Compared[];
  hidden: ReadonlySet<string>;
  onToggle: (runId: string) => void;
  onRemove: (runId: string) => void;
}

export function ComparedList({ compared, hidden, onToggle, onRemove }: ListProps) {
  return (
    <ul className={`${styles.runs} stack`} aria-label="Compared runs">
      {compared.map(({ id, run, color, dash }) => (
        <li key={id} className={`panel ${styles.run}`} data-hidden={hidden.has(id) || undefined}>
          <span className={styles.key} data-dash={dash} style={{ color: `var(--${color})` }} aria-hidden="true" />
          <a className={styles.name} href={formatRoute({ page: 'run', runId: id })} title={run.name}>
            {run.name}
          </a>
          <span className={`${styles.facts} muted small`}>{factsOf(run)}</span>
          <span className={styles.buttons}>
            <IconButton
              icon={hidden.has(id) ? 'hide' : 'show'}
              label={`${hidden.has(id) ? 'Show' : 'Hide'} ${run.name}`}
              pressed={hidden.has(id)}
              onClick={() => onToggle(id)}
            />
            <IconButton icon="close" label={`Remove ${run.name}`} onClick={() => onRemove(id)} />
          </span>
        </li>
      ))}
    </ul>
  );
}

function factsOf(run: Compared['run']): string {
  const { evaluation } = successOf(run);
  return [
    statusLabel(run.status),
    run.iteration === run.iterations
      ? `${run.iteration} iterations`
      : `${run.iteration} of ${run.iterations} iterations`,
    ...(evaluation === undefined ? [] : [`success ${percent(evaluation).replace(' ', '\u00a0')}`]),
  ].join(', ');
}
