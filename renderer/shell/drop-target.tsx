import { useEffect, useState } from 'react';
import { droppedFiles } from '../api/dropped-files.ts';
import { Icon } from '../components/icon.tsx';
import { useApp } from '../stores/app-store.ts';
import { useDialogs } from '../stores/dialogs-store.ts';
import { readOnlyReason } from '../stores/write-access.ts';
import styles from './drop-target.module.css';

/** Shows an overlay while files are dragged over the window, and opens the import dialog with those that are dropped. */
export function DropTarget() {
  const [isOver, setOver] = useState(false);
  useEffect(() => {
    // Moving onto another element enters it before leaving the last one.
    let depth = 0;
    const hasFiles = (event: DragEvent) =>
      readOnlyReason() === null && (event.dataTransfer?.types.includes('Files') ?? false);
    const enter = (event: DragEvent) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      depth += 1;
      setOver(true);
    };
    const over = (event: DragEvent) => {
      if (hasFiles(event)) event.preventDefault();
    };
    const leave = (event: DragEvent) => {
      if (!hasFiles(event)) return;
      depth = Math.max(0, depth - 1);
      if (depth === 0) setOver(false);
    };
    const drop = (event: DragEvent) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      depth = 0;
      setOver(false);
      droppedFiles(event.dataTransfer!).then(
        (files) => useDialogs.getState().openDialog({ kind: 'import', files }),
        (error) => useApp.getState().report(error),
      );
    };
    const stop = new AbortController();
    const { signal } = stop;
    addEventListener('dragenter', enter, { signal });
    addEventListener('dragover', over, { signal });
    addEventListener('dragleave', leave, { signal });
    addEventListener('drop', drop, { signal });
    return () => stop.abort();
  }, []);
  if (!isOver) return null;
  return (
    <div className={styles.overlay} data-testid="drop-target">
      <div className={styles.card}>
        <Icon name="import" size={28} />
        <strong>Drop to import</strong>
        <span>Run bundles, CSV, JSON lines, TensorBoard, W&B or MLflow</span>
      </div>
    </div>
  );
}
