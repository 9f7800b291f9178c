import { useEffect, useRef, useState } from 'react';
import { useApi } from '../api/context.ts';
import { Progress } from '../components/basics.tsx';
import styles from '../components/dialog-content.module.css';

export interface Step {
  label: string;
  /** Completed share, in [0, 1]; null while unknown. */
  share: number | null;
}

export function StepProgress({ step: { label, share } }: { step: Step }) {
  return (
    <div role="status" className={styles.field}>
      <span>{share === null ? `${label}…` : `${label}, ${Math.round(share * 100)} %`}</span>
      <Progress value={share ?? 0} label={label} />
    </div>
  );
}

/** Returns the running task of a kind. */
export function useTaskProgress(kind: string, runId: string | null): { id: string; share: number | null } | null {
  const api = useApi();
  const [task, setTask] = useState<{ id: string; share: number | null } | null>(null);
  useEffect(
    () =>
      api.on('task', (notice) => {
        if (notice.kind !== kind || notice.runId !== runId) return;
        const share = notice.total > 0 ? notice.done / notice.total : null;
        setTask(notice.state === 'running' ? { id: notice.id, share } : null);
      }),
    [api, kind, runId],
  );
  return task;
}

/** Returns a controller that is aborted when the dialog closes early. */
export function useAbortOnClose() {
  const controller = useRef(new AbortController());
  useEffect(() => {
    const current = new AbortController();
    controller.current = current;
    return () => current.abort();
  }, []);
  return controller;
}
