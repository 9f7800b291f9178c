import type { Importable, ImportKind, ImportSource } from '../../core/contract/contract.ts';
import styles from './import-runs.module.css';

const kindTitles: Record<ImportKind, string> = {
  bundle: 'Run bundle',
  csv: 'CSV',
  json: 'JSON',
  'trainer-state': 'Trainer state',
  console: 'Console log',
  tensorboard: 'TensorBoard',
  wandb: 'W&B',
  mlflow: 'MLflow',
};

export const sourceTitles: Record<ImportSource, string> = {
  starpo: 'StarPO Studio',
  ragen: 'RAGEN',
  verl: 'verl',
  trl: 'TRL',
  other: 'Other',
};

interface RowProps {
  run: Importable;
  isChosen: boolean;
  onToggle: () => void;
}

const counted = (count: number, what: string) => `${count} ${count === 1 ? what : `${what}s`}`;

/** Shows what was recognized of a run: its kind, its metrics and what was skipped. */
export function ImportableRow({ run, isChosen, onToggle }: RowProps) {
  const { file, kind, from, name, steps, mapped, mappedCount, unmapped, unmappedCount, remarks, problem } = run;
  const facts = [
    kindTitles[kind],
    ...(from === null ? [] : [sourceTitles[from]]),
    ...(kind === 'bundle' || problem ? [] : [counted(steps, 'step'), counted(mappedCount + unmappedCount, 'metric')]),
  ];
  return (
    <li className={styles.run}>
      <label className={styles.head}>
        <input type="checkbox" checked={isChosen} disabled={problem !== null} onChange={onToggle} />
        <span>
          <strong>{name}</strong>
          <small>{facts.join(' · ')}</small>
          {name !== file && <small className={styles.file}>{file}</small>}
        </span>
      </label>
      {problem && (
        <p className={styles.problem} role="alert">
          {problem.message} {problem.hint}
        </p>
      )}
      {remarks.length > 0 && (
        <ul className={styles.remarks}>
          {remarks.map((remark) => (
            <li key={remark}>{remark}</li>
          ))}
        </ul>
      )}
      {mappedCount > 0 && (
        <details>
          <summary>{mappedCount} recognized</summary>
          <dl className={styles.names}>
            {mapped.map((metric) => (
              <div key={metric.name}>
                <dt>{metric.column}</dt>
                <dd>{metric.name === metric.column ? 'same name' : metric.name}</dd>
              </div>
            ))}
          </dl>
          {mappedCount > mapped.length && <p>and {mappedCount - mapped.length} more</p>}
        </details>
      )}
      {unmappedCount > 0 && (
        <details>
          <summary>{unmappedCount} not recognized, imported under their own names</summary>
          <ul className={styles.unmapped}>
            {unmapped.map((column) => (
              <li key={column}>{column}</li>
            ))}
          </ul>
          {unmappedCount > unmapped.length && <p>and {unmappedCount - unmapped.length} more</p>}
        </details>
      )}
    </li>
  );
}
