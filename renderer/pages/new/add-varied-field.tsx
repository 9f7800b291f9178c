import { useId, useState } from 'react';
import type { PlacedField } from '../../stores/draft.ts';
import styles from './study-panel.module.css';

interface AddVariedFieldProps {
  fields: readonly PlacedField[];
  onAdd: (field: PlacedField) => void;
}

/** Adds a setting to a sweep by its title, with suggestions while typing. */
export function AddVariedField({ fields, onAdd }: AddVariedFieldProps) {
  const list = useId();
  const [text, setText] = useState('');
  const titles = fields.map(({ title }) => title);
  /** Fields of several environments can have the same title. */
  const nameOf = ({ title, at }: PlacedField) =>
    titles.indexOf(title) === titles.lastIndexOf(title) ? title : `${title} (${at})`;
  const typed = text.trim().toLowerCase();
  const matching = fields.filter((field) => nameOf(field).toLowerCase().includes(typed));
  const exact = matching.find((field) => nameOf(field).toLowerCase() === typed);
  const chosen = exact ?? (matching.length === 1 ? matching[0] : undefined);
  const add = (field: PlacedField | undefined) => {
    if (!field) return;
    setText('');
    onAdd(field);
  };
  return (
    <div className={`${styles.add} row`}>
      <label htmlFor={`${list}-input`}>Vary</label>
      <input
        id={`${list}-input`}
        list={list}
        value={text}
        placeholder="Search settings…"
        autoComplete="off"
        aria-invalid={typed !== '' && matching.length === 0}
        onChange={({ target, nativeEvent }) => {
          setText(target.value);
          // A title that is typed in full may be the start of a longer one, so only a chosen suggestion is added at once.
          const { inputType } = nativeEvent as InputEvent;
          if (inputType === undefined || inputType === 'insertReplacementText')
            add(fields.find((field) => nameOf(field) === target.value));
        }}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || event.ctrlKey || event.metaKey || typed === '') return;
          event.preventDefault();
          add(chosen);
        }}
      />
      <datalist id={list}>
        {fields.map((field) => (
          <option key={field.at} value={nameOf(field)} />
        ))}
      </datalist>
    </div>
  );
}
