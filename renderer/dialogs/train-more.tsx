import { useEffect, useId, useState } from 'react';
import type { RunSummary } from '../../core/contract/contract.ts';
import { useApi } from '../api/context.ts';
import { navigate } from '../base/router.ts';
import { Button } from '../components/basics.tsx';
import { Dialog } from '../components/dialog.tsx';
import { isDeviceInUse } from '../components/run-facts.ts';
import { useApp } from '../stores/app-store.ts';
import { useQuery } from '../stores/use-query.ts';
import styles from './train-more.module.css';

/** Extends a run by a chosen number of iterations, as a new run. */
export function TrainMore({ run, close }: { run: RunSummary; close: () => void }) {
  const api = useApi();
  const report = useApp((state) => state.report);
  const deviceInUse = useApp(({ runs }) => isDeviceInUse(runs, run.device));
  const id = useId();
  const [text, setText] = useState(String(Math.max(1, Math.round(run.iterations / 2))));
  const [busy, setBusy] = useState(false);
  const more = Number(text);
  const valid = /^\d+$/.test(text) && more >= 1 && run.iterations + more <= 1_000_000;
  const warnings = useWarnings(run, valid ? run.iterations + more : null);

  async function start(queue: boolean): Promise<void> {
    setBusy(true);
    try {
      const { runId } = await api.call('runs.trainMore', {
        runId: run.id,
        iterations: more,
        start: !queue,
        queue,
      });
      close();
      navigate({ page: 'run', runId });
    } catch (cause) {
      report(cause);
    } finally {
      setBusy(false);
    }
  }

  return (
    <Dialog
      onClose={close}
      title="Train more"
      description={
        <>
          Starts a new run from the last checkpoint of {run.name}, which doesn’t change. Its curves are shown behind the
          new ones.
        </>
      }
      actions={
        <>
          <Button onClick={close}>Cancel</Button>
          {deviceInUse && (
            <Button icon="play" disabled={busy || !valid} onClick={() => start(false)}>
              Start now
            </Button>
          )}
          <Button
            kind="primary"
            icon={deviceInUse ? 'queue' : 'play'}
            disabled={busy || !valid}
            onClick={() => start(deviceInUse)}
          >
            {deviceInUse ? 'Add to queue' : 'Start'}
          </Button>
        </>
      }
    >
      <div className={styles.more}>
        <label htmlFor={id}>More iterations</label>
        <input
          id={id}
          className={styles.count}
          inputMode="numeric"
          value={text}
          aria-invalid={!valid}
          aria-describedby={`${id}-sum`}
          onChange={({ target }) => setText(target.value.trim())}
          onKeyDown={({ key }) => key === 'Enter' && valid && !busy && start(deviceInUse)}
        />
        <span id={`${id}-sum`} className={valid ? 'faint' : styles.wrong}>
          {valid
            ? `${run.iterations} + ${more} = ${run.iterations + more} iterations`
            : 'Enter a whole number of 1 or more.'}
        </span>
      </div>
      {warnings.map((warning) => (
        <p key={warning} className={styles.warning} role="status">
          {warning}
        </p>
      ))}
      {deviceInUse && <p className="muted">Another run is using this device. Running in parallel slows both.</p>}
    </Dialog>
  );
}

/** Returns the warnings for a fork from the newest checkpoint. `iterations`: their total; null requests nothing. */
function useWarnings({ id }: RunSummary, iterations: number | null): readonly string[] {
  const api = useApi();
  const [checkpoint, setCheckpoint] = useState<number | null>(null);
  useEffect(() => {
    let active = true;
    // If there is no checkpoint, starting the run reports the error.
    api.call('checkpoints.list', { runId: id }).then(
      ([newest]) => active && setCheckpoint(newest?.iteration ?? null),
      () => {},
    );
    return () => {
      active = false;
    };
  }, [api, id]);
  const fork = checkpoint === null ? null : { run: id, checkpoint, keepOptimizer: false };
  const check = useQuery(
    'configs.check',
    fork && iterations !== null ? { ...fork, set: { iterations }, titles: true } : null,
    200,
  );
  return check.value?.warnings ?? [];
}
