import { type ReactNode, useRef, useState } from 'react';
import type { RunSource, RunSummary, Settings } from '../../core/contract/contract.ts';
import { isLive } from '../../core/contract/run-facts.ts';
import { useApi } from '../api/context.ts';
import { navigate } from '../base/router.ts';
import { useApp } from '../stores/app-store.ts';
import { Button } from './basics.tsx';
import { Dialog } from './dialog.tsx';
import { duration } from './format.ts';
import { isDeviceTaken, runsOnDevice } from './run-facts.ts';

/** A run that is to be made. */
export interface RunWish {
  source: RunSource;
  set: Settings;
  /** What it asks for, its `set` taken in. */
  device: string;
  /** For people. */
  title: string;
}

export interface StartRun {
  /** Makes and starts it, and opens its page; where another run is trained on its device, or waits for it, it asks first. */
  start: (wish: RunWish) => void;
  /** Adds it to the queue; the page stays, since whoever queues wants to queue more, perhaps. */
  queue: (wish: RunWish) => void;
  busy: { how: 'start' | 'queue'; title: string } | null;
  /** Of the last one that was queued. */
  said: string;
  /** To be rendered once on the page. */
  question: ReactNode;
}

/** Makes runs for the buttons of a page. */
export function useStartRun(): StartRun {
  const api = useApi();
  const report = useApp((state) => state.report);
  const [busy, setBusy] = useState<StartRun['busy']>(null);
  const [asked, setAsked] = useState<RunWish | null>(null);
  const [said, setSaid] = useState('');
  /** As `busy`, known before the page is drawn again: a key that is pressed twice makes one run. */
  const making = useRef(false);

  async function make(wish: RunWish, how: 'start' | 'queue'): Promise<void> {
    if (making.current) return;
    making.current = true;
    const { source, set, title } = wish;
    setAsked(null);
    setBusy({ how, title });
    setSaid('');
    try {
      const queue = how === 'queue';
      const { runId } = await api.call('runs.create', { ...source, set, start: !queue, queue });
      if (queue) setSaid(`${title} was added to the queue.`);
      else navigate({ page: 'run', runId });
    } catch (cause) {
      report(cause);
    } finally {
      making.current = false;
      setBusy(null);
    }
  }
  const start = (wish: RunWish) => {
    if (isDeviceTaken(useApp.getState().runs, wish.device)) setAsked(wish);
    else void make(wish, 'start');
  };
  return {
    start,
    queue: (wish) => void make(wish, 'queue'),
    busy,
    said,
    question: (
      <QueueOrStart
        device={asked?.device ?? null}
        onClose={() => setAsked(null)}
        choose={(how) => asked && void make(asked, how)}
      />
    ),
  };
}

interface QueueOrStartProps {
  /** Of the run that is asked about; null while none is. */
  device: string | null;
  onClose: () => void;
  choose: (how: 'start' | 'queue') => void;
}

/** The question before a run is started beside others: two on one device are slower than one after the other, so that nobody wants it by mistake. */
function QueueOrStart({ device, onClose, choose }: QueueOrStartProps) {
  const all = useApp((state) => state.runs);
  const runs = device === null ? [] : runsOnDevice(all, device);
  const live = runs.filter(({ status }) => isLive(status));
  const waiting = runs.filter(({ status }) => status === 'queued').length;
  return (
    <Dialog
      open={device !== null}
      onClose={onClose}
      title="Queue it, or start it now?"
      description={
        <>
          {live.map((run) => (
            <p key={run.id}>{besides(run)}</p>
          ))}
          {waiting > 0 && <p>{waiting === 1 ? 'One run waits' : `${waiting} runs wait`} in the queue.</p>}
          <p>Side by side, all of them take longer. From the queue it starts by itself.</p>
        </>
      }
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button icon="play" onClick={() => choose('start')}>
            Start it now
          </Button>
          <Button kind="primary" icon="queue" onClick={() => choose('queue')}>
            Add to queue
          </Button>
        </>
      }
    />
  );
}

function besides({ name, status, iteration, iterations, etaSeconds }: RunSummary): string {
  const place = `iteration ${iteration} of ${iterations}`;
  if (status === 'paused') return `${name} is paused at ${place}.`;
  const rest = etaSeconds === null ? '' : `, ${duration(etaSeconds)} to go`;
  return `${name} is being trained: ${place}${rest}.`;
}
