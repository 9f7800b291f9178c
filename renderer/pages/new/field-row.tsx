import { type ReactNode, useId, useState } from 'react';
import type { SettingValue } from '../../../core/contract/contract.ts';
import { IconButton } from '../../components/basics.tsx';
import { formatValue, isSame, type PlacedField, valueText } from '../../stores/draft.ts';
import styles from './field-row.module.css';

interface FieldRowProps {
  field: PlacedField;
  /** The edited value, or the base value. */
  value: SettingValue;
  /** The value in the base configuration. */
  base: SettingValue;
  changed: boolean;
  problem: string | null;
  /** Why the setting has no effect; null if it has one. */
  idle: string | null;
  onChange: (value: SettingValue) => void;
  onReset: () => void;
  /** True if the sweep varies the setting; null if it can't be varied. */
  varied: boolean | null;
  onVary: () => void;
  /** Reason why the value can't be edited here, or null. */
  disabled: string | null;
  /** Choices for a text field. */
  choices?: { value: string; title: string }[];
  /** Shown below the field. */
  children?: ReactNode;
}

/** Shows one setting with its title, help, value, and a reset button if it was changed. */
export function FieldRow(props: FieldRowProps) {
  const { field, base, changed, problem, idle, onReset, varied, onVary, disabled, children } = props;
  const id = useId();
  return (
    <div className={styles.row} data-changed={changed || undefined} data-long={field.type === 'text' || undefined}>
      <div className={styles.description}>
        <label htmlFor={id} title={field.at}>
          {field.title}
        </label>
        <p id={`${id}-help`} className={styles.help}>
          {disabled ?? (idle ? <span className={styles.idle}>No effect: {idle}</span> : field.help)}
        </p>
      </div>
      <div className={styles.value}>
        <div className={`${styles.control} row`} data-idle={idle !== null || undefined}>
          <Control {...props} id={id} />
          {field.unit && <span className={styles.unit}>{field.unit}</span>}
        </div>
        {problem && (
          <p id={`${id}-problem`} className={styles.problem}>
            {problem}
          </p>
        )}
        {changed && <p className={styles.was}>Was {valueText(base, field)}</p>}
        {children}
      </div>
      <div className={styles.actions}>
        {changed && disabled === null && (
          <IconButton icon="reset" label={`Reset ${field.title} to ${valueText(base, field)}`} onClick={onReset} />
        )}
        {varied !== null && (
          <IconButton icon="vary" label={`Vary ${field.title} in a sweep`} pressed={varied} onClick={onVary} />
        )}
      </div>
    </div>
  );
}

function Control(props: FieldRowProps & { id: string }) {
  const { field, value, problem, onChange, choices = field.choices, disabled, id } = props;
  const shared = {
    id,
    disabled: disabled !== null,
    'aria-invalid': problem !== null,
    'aria-describedby': problem === null ? `${id}-help` : `${id}-problem`,
  };
  if (field.type === 'boolean')
    return (
      <input
        {...shared}
        type="checkbox"
        className={styles.switch}
        checked={String(value) === 'true'}
        onChange={({ target }) => onChange(target.checked)}
      />
    );
  if (choices.length > 0)
    return (
      <select {...shared} value={String(value)} onChange={({ target }) => onChange(target.value)}>
        {choices.map((choice) => (
          <option key={choice.value} value={choice.value}>
            {choice.title}
          </option>
        ))}
      </select>
    );
  if (field.type === 'text')
    return (
      <textarea
        {...shared}
        rows={Math.min(10, Math.max(2, String(value).split('\n').length + 1))}
        value={String(value)}
        spellCheck={false}
        onChange={({ target }) => onChange(target.value)}
      />
    );
  return <TypedInput {...shared} isNumber={field.type !== 'string'} value={value} onChange={onChange} />;
}

interface TypedInputProps {
  id: string;
  disabled: boolean;
  isNumber: boolean;
  value: SettingValue;
  onChange: (value: string) => void;
}

/** Keeps the typed text while it parses to the same value: `0.` on the way from 0 to 0.001 stays `0.`. */
function TypedInput({ isNumber, value, onChange, ...shared }: TypedInputProps) {
  const [typed, setTyped] = useState<string | null>(null);
  return (
    <input
      {...shared}
      className={isNumber ? styles.number : undefined}
      inputMode={isNumber ? 'decimal' : 'text'}
      autoComplete="off"
      spellCheck={false}
      value={typed !== null && isSame(typed, value) ? typed : formatValue(value)}
      onChange={({ target }) => {
        setTyped(target.value);
        onChange(target.value);
      }}
      onBlur={() => setTyped(null)}
    />
  );
}
