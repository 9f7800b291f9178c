import { useId } from 'react';
import { formatRoute } from '../base/routes.ts';
import { useApp } from '../stores/app-store.ts';
import styles from './run-on.module.css';

interface RunOnProps {
  /** Name of the target; null for this machine. */
  target: string | null;
  onChange: (target: string | null) => void;
}

/** Selects the machine or cluster on which runs train. Renders nothing without targets. */
export function RunOn({ target, onChange }: RunOnProps) {
  const id = useId();
  const clusters = useApp((state) => state.clusters);
  if (clusters?.problem)
    return (
      <p className="muted small">
        targets.json is invalid. <a href={formatRoute({ page: 'settings' })}>See the problem in Settings</a>.
      </p>
    );
  const targets = clusters?.targets ?? [];
  if (targets.length === 0) return null;
  return (
    <div className={styles.choice}>
      <label htmlFor={id}>Run on</label>
      <select
        id={id}
        value={target ?? ''}
        title={targets.find(({ name }) => name === target)?.summary}
        onChange={({ target: { value } }) => onChange(value || null)}
      >
        <option value="">This machine</option>
        {targets.map(({ name }) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
    </div>
  );
}
