import { useEffect, useState } from 'react';
import type { UnreadableFolder } from '../../../core/contract/contract.ts';
import { isConnectionLost } from '../../api/api.ts';
import { useApi } from '../../api/context.ts';
import { useApp } from '../../stores/app-store.ts';
import styles from './history.module.css';

/** Lists the run folders that can't be read, with the reasons. */
export function UnreadableFolders() {
  const folders = useUnreadable();
  if (folders.length === 0) return null;
  return (
    <details className={styles.unreadable}>
      <summary>{folders.length === 1 ? '1 folder can’t be read' : `${folders.length} folders can’t be read`}</summary>
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

function useUnreadable(): readonly UnreadableFolder[] {
  const api = useApi();
  const [folders, setFolders] = useState<readonly UnreadableFolder[]>([]);
  useEffect(() => {
    let active = true;
    const request = () =>
      void api.call('runs.unreadable', {}).then(
        (found) => active && setFolders(found),
        (cause) => !isConnectionLost(cause) && useApp.getState().report(cause),
      );
    const stops = [
      api.on('unreadable', request),
      api.onState((state) => {
        if (state === 'open') request();
      }),
    ];
    return () => {
      active = false;
      for (const stop of stops) stop();
    };
  }, [api]);
  return folders;
}
