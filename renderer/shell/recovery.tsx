import { useState } from 'react';
import type { RunSummary } from '../../core/contract/contract.ts';
import { isLive } from '../../core/contract/run-facts.ts';
import { useApi } from '../api/context.ts';
import { formatRoute } from '../base/routes.ts';
import { Button } from '../components/basics.tsx';
import { notifyQueued } from '../components/notify-queued.ts';
import { isStartable } from '../components/run-facts.ts';
import { useApp } from '../stores/app-store.ts';
import styles from './recovery.module.css';

const storageKey = 'starpo-recovery';
/** Maximum number of stored answers. */
const maxAnswers = 100;
/** Only runs interrupted within this time are offered, in ms. */
const maxAge = 7 * 24 * 3600_000;

/** Identifies an interruption: a run that is interrupted again is offered again. */
const keyOf = ({ id, endedAt }: RunSummary) => `${id} ${endedAt}`;

/** Returns the keys of the interruptions that the user has answered. */
function storedAnswers(): string[] {
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
  const [handled, setHandled] = useState(storedAnswers);
  const interrupted = (runs ?? []).filter(
    (run) =>
      run.status === 'interrupted' &&
      isStartable(run) &&
      !run.marks.archived &&
      run.id !== here &&
      Date.now() - (run.endedAt ?? 0) < maxAge &&
      !handled.includes(keyOf(run)),
  );
  const [first] = interrupted;
  if (!first) return null;
  const several = interrupted.length > 1;

  function markAnswered(): void {
    const keys = [...handled, ...interrupted.map(keyOf)].slice(-maxAnswers);
    localStorage.setItem(storageKey, JSON.stringify(keys));
    setHandled(keys);
  }
  async function resume(): Promise<void> {
    markAnswered();
    const busy = (runs ?? []).some(({ status }) => isLive(status));
    try {
      if (!several && !busy) await api.call('runs.start', { runId: first!.id });
      else {
        for (const { id } of interrupted) await api.call('queue.add', { runId: id });
        if (several) notifyQueued(`${interrupted.length} runs`, 'were');
        else notifyQueued(first!.name);
      }
    } catch (cause) {
      report(cause);
    }
  }
  return (
    <section className={`${styles.offer} row wrap`} aria-label="Interrupted runs">
      <p>
        <strong>{several ? `${interrupted.length} runs were interrupted.` : 'A run was interrupted.'}</strong>{' '}
        {interrupted.slice(0, 3).map((run, index) => (
          <span key={run.id}>
            {index > 0 && ', '}
            <a href={formatRoute({ page: 'run', runId: run.id })}>{run.name}</a> after iteration {run.iteration} of{' '}
            {run.iterations}
          </span>
        ))}
        {interrupted.length > 3 && ` and ${interrupted.length - 3} more`}.{' '}
        {several ? 'You can resume them from their last checkpoints.' : 'You can resume it from its last checkpoint.'}
      </p>
      <div className={styles.actions}>
        <Button writes kind="primary" icon="play" onClick={() => void resume()}>
          {several ? 'Resume one by one' : 'Resume from the last checkpoint'}
        </Button>
        <Button kind="quiet" onClick={markAnswered}>
          Not now
        </Button>
      </div>
    </section>
  );
}
