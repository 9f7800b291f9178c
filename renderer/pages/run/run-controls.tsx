import { useState } from 'react';
import type { RunSummary } from '../../../core/contract/contract.ts';
import { isLive } from '../../../core/contract/run-facts.ts';
import { useApi } from '../../api/context.ts';
import { runActions } from '../../commands/run-commands.ts';
import { Button } from '../../components/basics.tsx';
import { notifyQueued } from '../../components/notify-queued.ts';
import { isDeviceInUse, isStartable } from '../../components/run-facts.ts';
import { hasClusters, useApp } from '../../stores/app-store.ts';

/** Buttons that control the run's training in its current status. */
export function RunControls({ run }: { run: RunSummary }) {
  const api = useApi();
  const report = useApp((state) => state.report);
  const deviceInUse = useApp(({ runs, system }) => isDeviceInUse(runs, run.device, system));
  const [busy, setBusy] = useState<string | null>(null);
  // Renders again when the clusters are loaded, because the actions depend on them.
  useApp(hasClusters);
  const actions = runActions(api, run);
  const { status } = run;

  /** Performs an action and disables the buttons while it runs. */
  async function perform(name: string, action: () => Promise<unknown>): Promise<void> {
    setBusy(name);
    try {
      await action();
    } catch (cause) {
      report(cause);
    } finally {
      setBusy(null);
    }
  }
  const start = () => perform('start', () => api.call('runs.start', { runId: run.id }));
  const queue = (procedure: 'queue.add' | 'queue.remove') =>
    perform(procedure, async () => {
      await api.call(procedure, { runId: run.id });
      if (procedure === 'queue.add') notifyQueued(run.name);
    });
  const startLabel = status === 'queued' ? 'Start now' : status === 'created' ? 'Start' : 'Resume';

  return (
    <fieldset className="controls" aria-label="Run">
      {status === 'running' && (
        <Button writes icon="pause" onClick={actions['run.pause']!}>
          Pause
        </Button>
      )}
      {status === 'paused' && (
        <Button writes icon="play" kind="primary" onClick={actions['run.start']!}>
          Resume
        </Button>
      )}
      {isLive(status) && (
        <>
          <Button
            writes
            icon="checkpoint"
            onClick={actions['run.checkpoint']!}
            title={
              status === 'paused'
                ? 'Write a checkpoint now if a rollout is in progress, otherwise at the end of this iteration'
                : 'Write a checkpoint at the end of this iteration'
            }
          >
            Checkpoint
          </Button>
          <Button writes icon="stop" kind="danger" onClick={actions['run.stop']!}>
            Stop…
          </Button>
        </>
      )}
      {isStartable(run) && (
        <Button
          writes
          icon="play"
          kind={status === 'created' ? 'primary' : 'plain'}
          onClick={start}
          disabled={busy !== null}
        >
          {busy === 'start' ? 'Starting…' : startLabel}
        </Button>
      )}
      {isStartable(run) && status !== 'queued' && deviceInUse && (
        <Button
          writes
          icon="queue"
          onClick={() => queue('queue.add')}
          disabled={busy !== null}
          title="Start automatically when its device is free"
        >
          Add to queue
        </Button>
      )}
      {actions['run.submit'] && (
        <Button writes icon="system" onClick={actions['run.submit']} disabled={busy !== null}>
          Submit…
        </Button>
      )}
      {status === 'queued' && (
        <Button writes icon="close" onClick={() => queue('queue.remove')} disabled={busy !== null}>
          Remove from queue
        </Button>
      )}
    </fieldset>
  );
}
