import { type ReactNode, useRef, useState } from 'react';
import type { NewRunMarks, RunSource, RunSummary, Settings } from '../../core/contract/contract.ts';
import { isLive } from '../../core/contract/run-facts.ts';
import { useApi } from '../api/context.ts';
import { navigate } from '../base/router.ts';
import { useApp } from '../stores/app-store.ts';
import { Button } from './basics.tsx';
import { Dialog } from './dialog.tsx';
import { duration } from './format.ts';
import { notifyQueued } from './notify-queued.ts';
import { isDeviceInUse, runsOnDevice } from './run-facts.ts';

export interface RunRequest {
  source: RunSource;
  set: Settings;
  /** Its name, tags and note. */
  marks?: NewRunMarks;
  /** The device setting after applying `set`. */
  device: string;
  /** Title for messages. */
  title: string;
}

export interface StartRun {
  /** Creates and starts a run and opens its page. Asks first if the device is in use. */
  start: (request: RunRequest) => void;
  /** Creates a run and queues it. Stays on the page. */
  queue: (request: RunRequest) => void;
  busy: { how: 'start' | 'queue'; title: string } | null;
  /** The dialog; render it once per page. */
  dialog: ReactNode;
}

export function useStartRun(): StartRun {
  const api = useApi();
  const report = useApp((state) => state.report);
  const [busy, setBusy] = useState<StartRun['busy']>(null);
  /** A run for which the dialog is open. */
  const [unconfirmed, setUnconfirmed] = useState<RunRequest | null>(null);
  /** Like `busy` but without waiting for a render, so a double key press creates one run. */
  const creating = useRef(false);

  async function create(request: RunRequest, how: 'start' | 'queue'): Promise<void> {
    if (creating.current) return;
    creating.current = true;
    const { source, set, marks, title } = request;
    setUnconfirmed(null);
    setBusy({ how, title });
    try {
      const queue = how === 'queue';
      const { runId } = await api.call('runs.create', { ...source, set, ...marks, start: !queue, queue });
      if (queue) notifyQueued(marks?.name || title);
      else navigate({ page: 'run', runId });
    } catch (cause) {
      report(cause);
    } finally {
      creating.current = false;
      setBusy(null);
    }
  }
  const start = (request: RunRequest) => {
    const { runs, system } = useApp.getState();
    if (isDeviceInUse(runs, request.device, system)) setUnconfirmed(request);
    else void create(request, 'start');
  };
  return {
    start,
    queue: (request) => void create(request, 'queue'),
    busy,
    dialog: (
      <QueueOrStart
        device={unconfirmed?.device ?? null}
        onClose={() => setUnconfirmed(null)}
        choose={(how) => unconfirmed && void create(unconfirmed, how)}
      />
    ),
  };
}

interface QueueOrStartProps {
  /** Device of the run in question; null closes the dialog. */
  device: string | null;
  onClose: () => void;
  choose: (how: 'start' | 'queue') => void;
}

/** Asks whether to queue a run or start it in parallel, which slows all runs on the device. */
function QueueOrStart({ device, onClose, choose }: QueueOrStartProps) {
  const all = useApp((state) => state.runs);
  const system = useApp((state) => state.system);
  const runs = device === null ? [] : runsOnDevice(all, device, system);
  const live = runs.filter(({ status }) => isLive(status));
  const waiting = runs.filter(({ status }) => status === 'queued').length;
  return (
    <Dialog
      open={device !== null}
      onClose={onClose}
      title="Queue or start now?"
      description={
        <>
          {live.map((run) => (
            <p key={run.id}>{progressText(run)}</p>
          ))}
          {waiting > 0 && <p>{waiting === 1 ? '1 run is' : `${waiting} runs are`} queued.</p>}
          <p>Running in parallel slows all runs. Queued runs start automatically.</p>
        </>
      }
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button icon="play" onClick={() => choose('start')}>
            Start now
          </Button>
          <Button kind="primary" icon="queue" onClick={() => choose('queue')}>
            Add to queue
          </Button>
        </>
      }
    />
  );
}

function progressText({ name, status, iteration, iterations, etaSeconds }: RunSummary): string {
  const progress = `iteration ${iteration} of ${iterations}`;
  if (status === 'paused') return `${name} is paused at ${progress}.`;
  const timeLeft = etaSeconds === null ? '' : `, ${duration(etaSeconds)} left`;
  return `${name} is training: ${progress}${timeLeft}.`;
}
