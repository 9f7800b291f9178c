import type { RunSummary } from '../../../core/contract/contract.ts';
import { bytes } from '../../../core/contract/numbers.ts';
import { isLive } from '../../../core/contract/run-facts.ts';
import { formatRoute } from '../../base/routes.ts';
import { RunMenu } from '../../commands/run-menu.tsx';
import { Button, Progress, StatusBadge } from '../../components/basics.tsx';
import { ago, dayAndClock, duration } from '../../components/format.ts';
import { Icon } from '../../components/icon.tsx';
import { MenuItem } from '../../components/menu.tsx';
import { describePhase, elapsedSeconds, machineText, shareDone } from '../../components/run-facts.ts';
import { showSection } from '../../components/run-sections.ts';
import { useDialogs } from '../../stores/dialogs-store.ts';
import { useRun } from '../../views/run-view.tsx';
import { RunControls } from './run-controls.tsx';
import styles from './run-header.module.css';
import { RunMarksBar } from './run-marks.tsx';

export function RunHeader({ run }: { run: RunSummary }) {
  const newest = useRun((state) => state.rollouts[0]);
  return (
    <header className="run-head">
      <div className="run-title row wrap">
        <div className={`${styles.name} row wrap`}>
          <h1 title={run.id}>{run.name}</h1>
          <StatusBadge run={run} />
        </div>
        <div className={`${styles.actions} row wrap`}>
          <RunControls run={run} />
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
          <RunMenu run={run} without={headerActions}>
            <MenuItem icon="fork" onClick={() => showSection(run.id, 'checkpoints')}>
              Fork from a checkpoint…
            </MenuItem>
          </RunMenu>
        </div>
      </div>
      <RunMarksBar run={run} />
      <div className="run-progress">
        <Progress value={shareDone(run)} label="Completed iterations" status={run.status} />
        <Facts run={run} />
      </div>
      {run.status === 'completed' && <Next run={run} />}
    </header>
  );
}

/** Actions that are not in the menu, because the header has buttons for them. */
const headerActions = [
  'run.page',
  'run.replay',
  'run.start',
  'run.pause',
  'run.stop',
  'run.star',
  'run.play',
] as const satisfies Parameters<typeof RunMenu>[0]['without'];

function Facts({ run }: { run: RunSummary }) {
  const now = Date.now();
  const elapsed = elapsedSeconds(run);
  return (
    <dl className="run-facts wrap">
      <div>
        <dt>Iteration</dt>
        <dd>
          {run.iteration} <span className="faint">of {run.iterations}</span>
        </dd>
      </div>
      <div className="run-phase">
        <dt>Phase</dt>
        <dd>
          {run.status === 'running' && run.phase ? (
            <PhaseLine run={run} />
          ) : (
            <span className="faint">{statusText(run)}</span>
          )}
        </dd>
      </div>
      {run.etaSeconds !== null && (
        <div>
          <dt>Time left</dt>
          <dd>about {duration(run.etaSeconds)}</dd>
        </div>
      )}
      {run.startedAt !== null && (
        <div title={dayAndClock(run.startedAt)}>
          <dt>Started</dt>
          <dd>{ago(run.startedAt, now)}</dd>
        </div>
      )}
      {elapsed !== null && !isLive(run.status) && (
        <div title="From the first start to the end, including pauses">
          <dt>Duration</dt>
          <dd>{duration(elapsed)}</dd>
        </div>
      )}
      {run.machine && (
        <div title={`On ${run.machine.host}`}>
          <dt>Hardware</dt>
          <dd>{machineText(run)}</dd>
        </div>
      )}
      <DiskFact />
    </dl>
  );
}

/** Links to the play page once the run has a policy. */
function PlayLink({ run: { id, task, startedAt } }: { run: RunSummary }) {
  if (task !== 'reinforce' || startedAt === null) return null;
  return (
    <a className="button" href={formatRoute({ page: 'play', runId: id, checkpoint: null })}>
      <Icon name="game" size={14} />
      Play
    </a>
  );
}

/** Suggests next steps after a completed run. */
function Next({ run }: { run: RunSummary }) {
  const { openDialog } = useDialogs.getState();
  return (
    <fieldset className={`${styles.next} row wrap`} aria-label="Next steps">
      <span className={`${styles.label} muted small`}>Next</span>
      {run.task === 'reinforce' && run.status === 'completed' && (
        <Button icon="play" onClick={() => openDialog({ kind: 'train-more', run })}>
          Train more…
        </Button>
      )}
      {run.task !== 'imported' && (
        <>
          <Button icon="fork" onClick={() => showSection(run.id, 'checkpoints')}>
            Fork from a checkpoint
          </Button>
          <Button icon="ok" onClick={() => showSection(run.id, 'evaluations')}>
            Evaluate
          </Button>
        </>
      )}
      <Button icon="download" onClick={() => openDialog({ kind: 'export', run })}>
        Export…
      </Button>
      <Button icon="trash" onClick={() => openDialog({ kind: 'delete', runs: [run] })}>
        Delete…
      </Button>
    </fieldset>
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

const ordinalRules = new Intl.PluralRules('en', { type: 'ordinal' });
const ordinalEndings: Record<string, string> = { one: 'st', two: 'nd', few: 'rd' };
const ordinal = (number: number) => `${number}${ordinalEndings[ordinalRules.select(number)] ?? 'th'}`;

function statusText({ status, iteration, phase, queuePosition }: RunSummary): string {
  switch (status) {
    case 'created':
      return 'Not started yet';
    case 'queued':
      return queuePosition === 1 ? 'Starts when its device is free' : `${ordinal(queuePosition!)} in queue`;
    case 'paused':
      return phase && phase.iteration > iteration
        ? `Paused in iteration ${phase.iteration}`
        : `Paused after iteration ${iteration}`;
    case 'completed':
      return 'All iterations completed';
    case 'interrupted':
      return 'The trainer exited unexpectedly. Resume to continue from the last checkpoint.';
    case 'stopped':
      return 'Stopped. Resume to continue from the last checkpoint.';
    case 'failed':
      return `Failed after iteration ${iteration}. Resume to continue from the last checkpoint.`;
    default:
      return 'Starting…';
  }
}
