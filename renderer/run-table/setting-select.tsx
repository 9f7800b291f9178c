import type { GroupingChoice } from './differences.ts';
import styles from './filter-field.module.css';

interface SettingSelectProps {
  label: string;
  choices: readonly GroupingChoice[];
  value: string;
  onChange: (id: string) => void;
}

/** Selects what to group or color runs by. */
export const SettingSelect = ({ label, choices, value, onChange }: SettingSelectProps) => (
  <label className="choice">
    <span>{label}</span>
    <select
      className={styles.select}
      value={choices.some(({ id }) => id === value) ? value : ''}
      onChange={({ target }) => onChange(target.value)}
    >
      <option value="">none</option>
      {choices.map(({ id, title }) => (
        <option key={id} value={id}>
          {title}
        </option>
      ))}
    </select>
  </label>
);
