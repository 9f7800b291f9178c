import { useId } from 'react';
import styles from './reaction-choice.module.css';

/** `reaction` in run.json. */
export type Reaction = keyof typeof reactions;

const reactions = {
  notify: { word: 'tell me', effect: '' },
  pause: { word: 'pause', effect: 'It waits for you to go on.' },
  stop: { word: 'stop', effect: 'It writes a checkpoint and ends.' },
  rollback: {
    word: 'roll back',
    effect: 'It goes on from the last healthy checkpoint with the change that helps, at most twice.',
  },
};

/** What is done at a warning without asking. */
export function ReactionChoice({ value, choose }: { value: Reaction; choose: (reaction: Reaction) => void }) {
  const effect = useId();
  return (
    <div className={styles.reaction}>
      <label>
        When the Echo Trap shows
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
        <p id={effect}>{reactions[value].effect} StarPO Studio or its command line has to be running.</p>
      )}
    </div>
  );
}
