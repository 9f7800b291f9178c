import { useFollowed } from '../../stores/use-followed.ts';
import styles from './history.module.css';

/** Lists the run folders that can't be read, with the reasons. */
export function UnreadableFolders() {
  const folders = useFollowed('runs.unreadable', {}, 'unreadable').value ?? [];
  if (folders.length === 0) return null;
  return (
    <details className={styles.unreadable}>
      <summary>{folders.length === 1 ? "1 folder can't be read" : `${folders.length} folders can't be read`}</summary>
      <ul>
        {folders.map(({ name, reason }) => (
          <li key={name}>
            <code>{name}</code>: {reason}
          </li>
        ))}
      </ul>
    </details>
  );
}
