import { useId, useState } from 'react';
import type { RunSummary } from '../../core/contract/contract.ts';
import { derivedName } from '../../core/contract/run-names.ts';
import { useApi } from '../api/context.ts';
import { navigate } from '../base/router.ts';
import { Button } from '../components/basics.tsx';
import { Dialog } from '../components/dialog.tsx';
import { isDeviceInUse } from '../components/run-facts.ts';
import { useApp } from '../stores/app-store.ts';
import newRun from './new-run.module.css';
import {
  Facts,
  keptOf,
  NewRunName,
  nameProblem,
  useCheckpointList,
  useForkCost,
  useRunNames,
  Warnings,
} from './new-run.tsx';
import styles from './train-more.module.css';

/** Maximum number of iterations of a run. */
const maxIterations = 1_000_000;

/** Extends a run by a chosen number of iterations, as a new run. */
export function TrainMore({ run, close }: { run: RunSummary; close: () => void }) {
  const api = useApi();
  const report = useApp((state) => state.report);
  const runs = useApp((state) => state.runs);
  const system = useApp((state) => state.system);
  const names = useRunNames();
  const deviceInUse = isDeviceInUse(runs, run.device, system);
  const id = useId();
  const [text, setText] = useState(String(Math.max(1, Math.round(run.iterations / 2))));
  const [edited, setEdited] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const more = Number(text);
  const countValid = /^\d+$/.test(text) && more >= 1 && run.iterations + more <= maxIterations;
  const total = countValid ? run.iterations + more : run.iterations;
  const name = edited ?? derivedName(run.name, `extended to ${total}`, names);
  const problem = nameProblem(name, runs);
  const checkpoints = useCheckpointList(run.id);
  const checkpoint = checkpoints?.[0] ?? null;
  const valid = countValid && problem === null && checkpoint !== null;
  const { cost, warnings } = useForkCost({
    run,
    checkpoint: countValid ? (checkpoint?.iteration ?? null) : null,
    keepOptimizer: checkpoint?.optimizer ?? false,
    set: { iterations: total },
  });

  async function start(queue: boolean): Promise<void> {
    setBusy(true);
    try {
      const { runId } = await api.call('runs.trainMore', {
        ...{ runId: run.id, iterations: more, name: name.trim() },
        ...{ start: !queue, queue },
      });
      close();
      navigate({ page: 'run', runId });
    } catch (cause) {
      report(cause);
      setBusy(false);
    }
  }

  return (
    <Dialog
      onClose={close}
      title="Train more"
      description={
        <>
          Starts a new run from the last checkpoint of {run.name}, which doesn't change. Its curves are shown behind the
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
          aria-invalid={!countValid}
          aria-describedby={`${id}-sum`}
          onChange={({ target }) => setText(target.value.trim())}
          onKeyDown={({ key }) => key === 'Enter' && valid && !busy && start(deviceInUse)}
        />
        <span id={`${id}-sum`} className={countValid ? 'faint' : newRun.wrong}>
          {countValid
            ? `${run.iterations} + ${more} = ${total} iterations`
            : `Enter a whole number from 1 to ${(maxIterations - run.iterations).toLocaleString('en')}.`}
        </span>
      </div>
      <NewRunName name={name} problem={problem} change={setEdited} />
      {checkpoints?.length === 0 ? (
        <p>This run has no checkpoint.</p>
      ) : (
        <Facts facts={[['Keeps', keptOf(checkpoint)], ['Changes', 'only the number of iterations'], ...cost]} />
      )}
      <Warnings warnings={warnings} />
      {deviceInUse && (
        <p className="muted">This device has running or queued runs. Running in parallel slows them all.</p>
      )}
    </Dialog>
  );
}
