import { useState } from 'react';
import type { RunSummary } from '../../core/contract/contract.ts';
import { isLive } from '../../core/contract/run-facts.ts';
import { useApi } from '../api/context.ts';
import { formatRoute } from '../base/routes.ts';
import { Button } from '../components/basics.tsx';
import { useApp } from '../stores/app-store.ts';
import styles from './recovery.module.css';

const storageKey = 'starpo-recovery';
/** Maximum number of remembered answers. */
const kept = 100;
/** Only runs interrupted within this time (ms) are offered. */
const recent = 7 * 24 * 3600_000;

/** Includes the end time, so a run that is interrupted again is offered again. */
const keyOf = ({ id, endedAt }: RunSummary) => `${id} ${endedAt}`;

function answered(): string[] {
  try {
    const keys: unknown = JSON.parse(localStorage.getItem(storageKey) ?? '[]');
    return Array.isArray(keys) ? keys.map(String) : [];
  } catch {
    return [];
  }
}

/** Offers to resume interrupted runs, once per interruption. `here` is the run on the current page, which has its own offer. */
export function Recovery({ here }: { here: string | null }) {
  const api = useApi();
  const runs = useApp((state) => state.runs);
  const report = useApp((state) => state.report);
  const [handled, setHandled] = useState(answered);
  const interrupted = (runs ?? []).filter(
    (run) =>
      run.status === 'interrupted' &&
      !run.marks.archived &&
      run.id !== here &&
      Date.now() - (run.endedAt ?? 0) < recent &&
      !handled.includes(keyOf(run)),
  );
  const [first] = interrupted;
  if (!first) return null;
  const several = interrupted.length > 1;

  function answer(): void {
    const keys = [...handled, ...interrupted.map(keyOf)].slice(-kept);
    localStorage.setItem(storageKey, JSON.stringify(keys));
    setHandled(keys);
  }
  async function resume(): Promise<void> {
    answer();
    const busy = (runs ?? []).some(({ status }) => isLive(status));
    try {
      if (!several && !busy) await api.call('runs.start', { runId: first!.id });
      else for (const { id } of interrupted) await api.call('queue.add', { runId: id });
    } catch (cause) {
      report(cause);
    }
  }
  return (
    <section className={styles.offer} aria-label="Interrupted runs">
      <p>
        <strong>{several ? `${interrupted.length} runs were interrupted.` : 'A run was interrupted.'}</strong>{' '}
        {interrupted.slice(0, 3).map((run, index) => (
          <span key={run.id}>
            {index > 0 && ', '}
            <a href={formatRoute({ page: 'run', runId: run.id })}>{run.name}</a> after iteration{' '}
            {run.iteration} of {run.iterations}
          </span>
        ))}
        {interrupted.length > 3 && ` and ${interrupted.length - 3} more`}.{' '}
        {several ? 'Their last checkpoints are' : 'Its last checkpoint is'} kept.
      </p>
      <div className={styles.actions}>
        <Button kind="primary" icon="play" onClick={() => void resume()}>
          {several ? 'Resume one by one' : 'Resume from the last checkpoint'}
        </Button>
        <Button kind="quiet" onClick={answer}>
          Not now
        </Button>
      </div>
    </section>
  );
}
