import { useId } from 'react';
import styles from './reaction-choice.module.css';

/** `reaction` in run.json. */
export type Reaction = keyof typeof reactions;

const reactions = {
  notify: { word: 'Notify', effect: '' },
  pause: { word: 'Pause', effect: 'Pauses until you resume.' },
  stop: { word: 'Stop', effect: 'Saves a checkpoint and stops.' },
  rollback: {
    word: 'Roll back',
    effect: 'Rolls back to the last healthy checkpoint, at most twice.',
  },
};

/** Chooses the automatic action for a collapse warning. */
export function ReactionChoice({ value, choose }: { value: Reaction; choose: (reaction: Reaction) => void }) {
  const effect = useId();
  return (
    <div className={styles.reaction}>
      <label>
        On collapse warning
        <select
          value={value}
          aria-describedby={value === 'notify' ? undefined : effect}
          onChange={({ target }) => choose(target.value as Reaction)}
        >
          {Object.entries(reactions).map(([reaction, { word }]) => (
            <option key={reaction} value={reaction}>
              {word}
            </option>
          ))}
        </select>
      </label>
      {value !== 'notify' && (
        <p id={effect}>Runs automatically while the app or CLI is open. {reactions[value].effect}</p>
      )}
    </div>
  );
}
