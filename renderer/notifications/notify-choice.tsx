import { Icon } from '../components/icon.tsx';
import { useNotifications } from './notifications.ts';
import styles from './notify-choice.module.css';

/** Whether alarms are told of while the window isn't in front. */
export function NotifyChoice() {
  const { permission, turn } = useNotifications();
  if (permission === 'unsupported') return null;
  if (permission === 'blocked')
    return (
      <p className={styles.blocked}>Notifications are blocked: allow them for this page in the browser.</p>
    );
  const on = permission === 'on';
  return (
    <button
      type="button"
      className={`toggle ${styles.choice}`}
      aria-pressed={on}
      onClick={() => void turn(!on)}
      title="Tells of warnings while this window isn't in front"
    >
      <Icon name="bell" size={13} />
      {on ? 'Notifications on' : 'Notify me of warnings'}
    </button>
  );
}
