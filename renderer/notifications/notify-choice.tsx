import { Icon } from '../components/icon.tsx';
import { useNotifications } from './notifications.ts';
import styles from './notify-choice.module.css';

/** Turns desktop notifications on or off. Shows nothing if the browser has none or blocks them; the Settings page explains blocked ones. */
export function NotifyChoice() {
  const { permission, setEnabled } = useNotifications();
  if (permission === 'unsupported' || permission === 'blocked') return null;
  const on = permission === 'on';
  return (
    <button
      type="button"
      className={`toggle ${styles.choice}`}
      aria-pressed={on}
      onClick={() => void setEnabled(!on)}
      title="Show a desktop notification for warnings and ended runs while the window is in the background"
    >
      <Icon name="bell" size={13} />
      Notify me
    </button>
  );
}
