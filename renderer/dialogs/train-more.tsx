import { useEffect, useId, useState } from 'react';
import type { RunSummary } from '../../core/contract/contract.ts';
import { useApi } from '../api/context.ts';
import { navigate } from '../base/router.ts';
import { Button } from '../components/basics.tsx';
import { Dialog } from '../components/dialog.tsx';
import { isDeviceTaken } from '../components/run-facts.ts';
import { useApp } from '../stores/app-store.ts';
import { useAnswer } from '../stores/use-answer.ts';
import styles from './train-more.module.css';

/** Extends a run: asks for the number of iterations and opens the new run. */
export function TrainMore({ run, close }: { run: RunSummary; close: () => void }) {
  const api = useApi();
  const report = useApp((state) => state.report);
  const taken = useApp(({ runs }) => isDeviceTaken(runs, run.device));
  const id = useId();
  const [text, setText] = useState(String(Math.max(1, Math.round(run.iterations / 2))));
  const [busy, setBusy] = useState(false);
  const more = Number(text);
  const valid = /^\d+$/.test(text) && more >= 1 && run.iterations + more <= 1_000_000;
  const warnings = useWarnings(run, valid ? run.iterations + more : null);

  async function go(queue: boolean): Promise<void> {
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
      open
      onClose={close}
      title="Train more"
      description={
        <>
          Starts a new run from the last checkpoint of {run.name}, which doesn’t change. Its curves are shown
          behind the new ones.
        </>
      }
      actions={
        <>
          <Button onClick={close}>Cancel</Button>
          {taken && (
            <Button icon="play" disabled={busy || !valid} onClick={() => go(false)}>
              Start now
            </Button>
          )}
          <Button
            kind="primary"
            icon={taken ? 'queue' : 'play'}
            disabled={busy || !valid}
            onClick={() => go(taken)}
          >
            {taken ? 'Add to queue' : 'Start'}
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
          onKeyDown={({ key }) => key === 'Enter' && valid && !busy && go(taken)}
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
      {taken && <p className="muted">Another run is using this device. Running in parallel slows both.</p>}
    </Dialog>
  );
}

/** Warnings for a fork of the newest checkpoint with this many iterations in total; `iterations: null` makes no call. */
function useWarnings({ id }: RunSummary, iterations: number | null): readonly string[] {
  const api = useApi();
  const [checkpoint, setCheckpoint] = useState<number | null>(null);
  useEffect(() => {
    let active = true;
    // Without a checkpoint, starting reports the error.
    api.call('checkpoints.list', { runId: id }).then(
      ([newest]) => active && setCheckpoint(newest?.iteration ?? null),
      () => {},
    );
    return () => {
      active = false;
    };
  }, [api, id]);
  const going = checkpoint === null ? null : { run: id, checkpoint, keepOptimizer: false };
  const check = useAnswer(
    'configs.check',
    going && iterations !== null ? { ...going, set: { iterations }, titles: true } : null,
    200,
  );
  return check.value?.warnings ?? [];
}
