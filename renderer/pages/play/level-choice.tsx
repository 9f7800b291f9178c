import { useState } from 'react';
import { IconButton } from '../../components/basics.tsx';
import styles from './score.module.css';

/** Selects a level by number, or the previous or next one. */
export function LevelChoice({ level, onLevel }: { level: number; onLevel: (level: number) => void }) {
  const [text, setText] = useState<string | null>(null);
  const commit = () => {
    const value = Number(text);
    if (text !== null && Number.isInteger(value) && value >= 1 && value <= 1_000_000 && value !== level) onLevel(value);
    setText(null);
  };
  return (
    <fieldset className={`${styles.levels} row`} aria-label="Level">
      <IconButton icon="previous" label="Previous level" disabled={level === 1} onClick={() => onLevel(level - 1)} />
      <label>
        Level{' '}
        <input
          inputMode="numeric"
          value={text ?? level}
          onChange={(event) => setText(event.target.value)}
          onBlur={commit}
          onKeyDown={(event) => {
            if (event.key === 'Enter') commit();
            if (event.key === 'Escape') setText(null);
          }}
        />
      </label>
      <IconButton icon="next" label="Next level" onClick={() => onLevel(level + 1)} />
    </fieldset>
  );
}
