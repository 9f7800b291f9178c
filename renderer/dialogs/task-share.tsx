import { useEffect, useState } from 'react';
import { useApi } from '../api/context.ts';
import { Progress } from '../components/basics.tsx';
import styles from '../components/dialog-content.module.css';

export interface Step {
  words: string;
  /** In [0, 1]; null while unknown. */
  share: number | null;
}

/** How far what a question asked for is. */
export function StepLine({ step: { words, share } }: { step: Step }) {
  return (
    <div role="status" className={styles.field}>
      <span>{share === null ? `${words}…` : `${words}, ${Math.round(share * 100)} %`}</span>
      <Progress value={share ?? 0} label={words} />
    </div>
  );
}

/** The task of a kind that is under way. */
export function useTaskShare(
  kind: string,
  runId: string | null,
): { id: string; share: number | null } | null {
  const api = useApi();
  const [task, setTask] = useState<{ id: string; share: number | null } | null>(null);
  useEffect(
    () =>
      api.on('task', (told) => {
        if (told.kind !== kind || told.runId !== runId) return;
        const share = told.total > 0 ? told.done / told.total : null;
        setTask(told.state === 'running' ? { id: told.id, share } : null);
      }),
    [api, kind, runId],
  );
  return task;
}
