import { useState } from 'react';
import { bytes } from '../../../core/contract/bytes.ts';
import type { Input, RunSummary } from '../../../core/contract/contract.ts';
import { useApi } from '../../api/context.ts';
import { Button, Progress, StatusBadge } from '../../components/basics.tsx';
import { duration } from '../../components/format.ts';
import { Icon } from '../../components/icon.tsx';
import { describePhase, isDeviceTaken, isLive, isStartable, shareDone } from '../../components/run-facts.ts';
import { formatRoute } from '../../router.ts';
import { useApp } from '../../stores/app-store.ts';
import { useRun } from '../../views/run-view.tsx';
import { RunMarksBar } from './run-marks.tsx';

export function RunHeader({ run }: { run: RunSummary }) {
  const newest = useRun((state) => state.rollouts[0]);
  return (
    <header className="run-head">
      <div className="run-title">
        <h1 title={run.id}>{run.name}</h1>
        <StatusBadge status={run.status} stalled={run.stalled !== null} />
        <code className="faint">{run.preset}</code>
        <span className="spacer" />
        <Controls run={run} />
        {newest && (
          <a className="button" href={formatRoute({ page: 'thoughts', runId: run.id, iteration: null })}>
            <Icon name="tree" size={14} />
            Thought tree
          </a>
        )}
        {newest && (
          <a
            className="button"
            data-kind="primary"
            href={formatRoute({ page: 'replay', runId: run.id, episodeId: null })}
          >
            <Icon name="replay" size={14} />
            Replay episodes
          </a>
        )}
        <PlayLink run={run} />
      </div>
      <RunMarksBar run={run} />
      <div className="run-progress">
        <Progress value={shareDone(run)} label="Iterations done" status={run.status} />
        <dl className="run-facts">
          <div>
            <dt>Iteration</dt>
            <dd>
              {run.iteration} <span className="faint">of {run.iterations}</span>
            </dd>
          </div>
          <div className="run-phase">
            <dt>Phase</dt>
            <dd>
              {isLive(run.status) && run.phase ? (
                <PhaseLine run={run} />
              ) : (
                <span className="faint">{resting(run)}</span>
              )}
            </dd>
          </div>
          <div>
            <dt>Time left</dt>
            <dd>
              {run.etaSeconds === null ? (
                <span className="faint">–</span>
              ) : (
                `about ${duration(run.etaSeconds)}`
              )}
            </dd>
          </div>
          <DiskFact />
        </dl>
      </div>
    </header>
  );
}

/** To a game against its policy, once it has one. */
function PlayLink({ run: { id, task, startedAt } }: { run: RunSummary }) {
  if (task !== 'reinforce' || startedAt === null) return null;
  return (
    <a className="button" href={formatRoute({ page: 'play', runId: id, checkpoint: null })}>
      <Icon name="play" size={14} />
      Play
    </a>
  );
}

function DiskFact() {
  const storage = useRun((state) => state.storage);
  if (!storage) return null;
  const { rollouts, checkpoints, journal, other, total, budget } = storage;
  const parts = { Rollouts: rollouts, Checkpoints: checkpoints, Journal: journal, Other: other };
  const title = Object.entries(parts).map(([name, size]) => `${name}: ${bytes(size)}`);
  return (
    <div title={title.join('\n')}>
      <dt>Disk</dt>
      <dd>
        {bytes(total)} {budget !== null && <span className="faint">of {bytes(budget)}</span>}
      </dd>
    </div>
  );
}

function PhaseLine({ run }: { run: RunSummary }) {
  const phase = run.phase!;
  return (
    <span className="phase">
      <span className="phase-words">{describePhase(phase)}</span>
      {phase.total > 1 && (
        <span className="phase-bar">
          <Progress value={phase.done / phase.total} label="Phase" status={run.status} />
        </span>
      )}
    </span>
  );
}

function resting({ status, iteration, queuePosition }: RunSummary): string {
  switch (status) {
    case 'created':
      return 'Not started yet';
    case 'queued':
      return queuePosition === 1 ? 'Starts when its device is free' : `Number ${queuePosition} of the queue`;
    case 'completed':
      return 'All iterations are done';
    case 'interrupted':
      return 'The trainer ended unexpectedly; resume to go on from the last checkpoint';
    case 'stopped':
      return 'Stopped; resume to go on from the last checkpoint';
    case 'failed':
      return `Failed after iteration ${iteration}; resume to go on from the last checkpoint`;
    default:
      return 'Starting…';
  }
}

type Command = Exclude<Input<'runs.command'>['command'], 'pin' | 'unpin'>;

function Controls({ run }: { run: RunSummary }) {
  const api = useApi();
  const report = useApp((state) => state.report);
  const taken = useApp(({ runs }) => isDeviceTaken(runs));
  const [busy, setBusy] = useState<string | null>(null);
  const [said, setSaid] = useState('');

  /** One thing at a time; what was said about the last one stays until the next. */
  async function perform(name: string, action: () => Promise<string>): Promise<void> {
    setBusy(name);
    setSaid('');
    try {
      setSaid(await action());
    } catch (cause) {
      report(cause);
    } finally {
      setBusy(null);
    }
  }
  const command = (name: Command) =>
    perform(name, async () => {
      const { accepted, message } = await api.call('runs.command', { runId: run.id, command: name });
      return accepted ? '' : `Not done: ${message}`;
    });
  const start = () =>
    perform('start', async () => {
      await api.call('runs.start', { runId: run.id });
      return '';
    });

  const queue = (procedure: 'queue.add' | 'queue.remove') =>
    perform(procedure, async () => {
      await api.call(procedure, { runId: run.id });
      return '';
    });
  const startWord = run.status === 'queued' ? 'Start now' : run.status === 'created' ? 'Start' : 'Resume';

  return (
    <fieldset className="controls" aria-label="Run">
      <span className="faint" role="status">
        {said}
      </span>
      {run.status === 'running' && (
        <Button icon="pause" onClick={() => command('pause')} disabled={busy !== null}>
          Pause
        </Button>
      )}
      {run.status === 'paused' && (
        <Button icon="play" onClick={() => command('resume')} disabled={busy !== null}>
          Continue
        </Button>
      )}
      {isLive(run.status) && (
        <>
          <Button
            icon="checkpoint"
            onClick={() => command('checkpoint')}
            disabled={busy !== null}
            title="Write a checkpoint after this iteration"
          >
            Checkpoint
          </Button>
          <Button
            icon="stop"
            kind="danger"
            onClick={() => command('stop')}
            disabled={busy !== null}
            title="Write a checkpoint and end the trainer; the run can be resumed"
          >
            {busy === 'stop' ? 'Stopping…' : 'Stop'}
          </Button>
        </>
      )}
      {isStartable(run.status) && (
        <Button
          icon="play"
          kind={run.status === 'created' ? 'primary' : 'plain'}
          onClick={start}
          disabled={busy !== null}
        >
          {startWord}
        </Button>
      )}
      {isStartable(run.status) && run.status !== 'queued' && taken && (
        <Button
          icon="queue"
          onClick={() => queue('queue.add')}
          disabled={busy !== null}
          title="It starts when the runs before it have ended"
        >
          Add to queue
        </Button>
      )}
      {run.status === 'queued' && (
        <Button icon="close" onClick={() => queue('queue.remove')} disabled={busy !== null}>
          Leave the queue
        </Button>
      )}
    </fieldset>
  );
}
