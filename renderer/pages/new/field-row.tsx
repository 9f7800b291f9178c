import { type ReactNode, useId, useState } from 'react';
import type { SettingValue } from '../../../core/contract/contract.ts';
import { IconButton } from '../../components/basics.tsx';
import { asText, inWords, isSame, type PlacedField } from '../../stores/draft.ts';
import styles from './field-row.module.css';

export interface FieldRowProps {
  field: PlacedField;
  /** As it is typed, or as it stands in what the run is made from. */
  value: SettingValue;
  /** As what the run is made from has it. */
  base: SettingValue;
  changed: boolean;
  /** What is wrong with it. */
  problem: string | null;
  /** Why it can't act as things stand. */
  idle: string | null;
  onChange: (value: SettingValue) => void;
  onReset: () => void;
  /** Whether a study varies it; null where it can't. */
  varied: boolean | null;
  onVary: () => void;
  /** Other values that can be chosen, for a text. */
  choices?: { value: string; title: string }[];
  /** Beneath the field. */
  children?: ReactNode;
}

/** A setting: its name, what it means, its value, and whether that differs from what the run is made from. */
export function FieldRow(props: FieldRowProps) {
  const { field, base, changed, problem, idle, onReset, varied, onVary, children } = props;
  const id = useId();
  return (
    <div
      className={styles.row}
      data-changed={changed || undefined}
      data-long={field.type === 'text' || undefined}
    >
      <div className={styles.words}>
        <label htmlFor={id} title={field.at}>
          {field.title}
        </label>
        <p id={`${id}-help`} className={styles.help}>
          {idle ? <span className={styles.idle}>Has no effect now: {idle}</span> : field.help}
        </p>
      </div>
      <div className={styles.value}>
        <div className={styles.control} data-idle={idle !== null || undefined}>
          <Control {...props} id={id} />
          {field.unit && <span className={styles.unit}>{field.unit}</span>}
        </div>
        {problem && (
          <p id={`${id}-problem`} className={styles.problem}>
            {problem}
          </p>
        )}
        {changed && <p className={styles.was}>Was {inWords(base, field)}</p>}
        {children}
      </div>
      <div className={styles.actions}>
        {changed && (
          <IconButton
            icon="reset"
            label={`Reset ${field.title} to ${inWords(base, field)}`}
            onClick={onReset}
          />
        )}
        {varied !== null && (
          <IconButton
            icon="vary"
            label={`Vary ${field.title} in a study`}
            pressed={varied}
            onClick={onVary}
          />
        )}
      </div>
    </div>
  );
}

function Control({
  field,
  value,
  problem,
  onChange,
  choices = field.choices,
  id,
}: FieldRowProps & { id: string }) {
  const shared = {
    id,
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
  isNumber: boolean;
  value: SettingValue;
  onChange: (value: string) => void;
}

/** While it is typed in, it shows what was typed as long as that means the value: on the way from 0 to 0.001 stands `0.`, which is 0 still. */
function TypedInput({ isNumber, value, onChange, ...shared }: TypedInputProps) {
  const [typed, setTyped] = useState<string | null>(null);
  return (
    <input
      {...shared}
      className={isNumber ? styles.number : undefined}
      inputMode={isNumber ? 'decimal' : 'text'}
      autoComplete="off"
      spellCheck={false}
      value={typed !== null && isSame(typed, value) ? typed : asText(value)}
      onChange={({ target }) => {
        setTyped(target.value);
        onChange(target.value);
      }}
      onBlur={() => setTyped(null)}
    />
  );
}
