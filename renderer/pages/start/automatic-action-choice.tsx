import { useId } from 'react';
import styles from './automatic-action-choice.module.css';

/** `automatic_action` in run.json. */
export type AutomaticAction = keyof typeof actions;

const actions = {
  notify: { word: 'Notify', effect: '' },
  pause: { word: 'Pause', effect: 'Pauses until you resume.' },
  stop: { word: 'Stop', effect: 'Saves a checkpoint and stops.' },
  rollback: {
    word: 'Roll back',
    effect: 'Rolls back to the last healthy checkpoint, at most twice.',
  },
};

interface Props {
  value: AutomaticAction;
  choose: (action: AutomaticAction) => void;
}

export function AutomaticActionChoice({ value, choose }: Props) {
  const effect = useId();
  return (
    <div className={`${styles.choice} muted small`}>
      <label>
        On collapse warning
        <select
          value={value}
          aria-describedby={value === 'notify' ? undefined : effect}
          onChange={({ target }) => choose(target.value as AutomaticAction)}
        >
          {Object.entries(actions).map(([action, { word }]) => (
            <option key={action} value={action}>
              {word}
            </option>
          ))}
        </select>
      </label>
      {value !== 'notify' && (
        <p id={effect}>
          {actions[value].effect} Happens only while the app or a <code>starpo</code> command is open.
        </p>
      )}
    </div>
  );
}
