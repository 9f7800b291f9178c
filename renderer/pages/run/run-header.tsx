import type { ReactNode } from 'react';
import type { RunSummary } from '../../../core/contract/contract.ts';
import { hasActiveJob, isLive } from '../../../core/contract/run-facts.ts';
import { isAlarm } from '../../../core/contract/trap-words.ts';
import { formatRoute } from '../../base/routes.ts';
import { RunMenu } from '../../commands/run-menu.tsx';
import { Progress, StatusBadge } from '../../components/basics.tsx';
import { ago, dayAndClock, duration } from '../../components/format.ts';
import { Icon } from '../../components/icon.tsx';
import { describePhase, elapsedSeconds, shareDone } from '../../components/run-facts.ts';
import { stateLabel, toneIcons } from '../../components/trap-labels.ts';
import { successorOf } from './echo-trap/possible-actions.ts';
import { Family } from './family.tsx';
import { RunControls } from './run-controls.tsx';
import styles from './run-header.module.css';
import { RunMarksBar } from './run-marks.tsx';

/** Shows the run's name, controls, marks and progress. Its parts keep their places while the run trains. */
export function RunHeader({ run }: { run: RunSummary }) {
  return (
    <header className="run-head">
      <div className={styles.title}>
        <h1 className={styles.name} title={`${run.name} (${run.id})`}>
          {run.name}
        </h1>
        <StatusBadge run={run} />
        <TrapMark run={run} />
        <span className="spacer" />
        <RunControls run={run} />
        <RunMenu run={run} without={headerActions} />
      </div>
      <RunMarksBar run={run} />
      <Progress value={shareDone(run)} label="Completed iterations" status={run.status} />
      <Facts run={run} />
      <Family run={run} />
    </header>
  );
}

/** Shows an alarm of a live run on all tabs. The overview has the details. */
function TrapMark({ run: { id, trap, status } }: { run: RunSummary }) {
  const alarm = trap && isLive(status) && isAlarm(trap.state) ? stateLabel(trap.state) : null;
  return (
    <span role="status">
      {alarm && (
        <a className={styles.trap} data-tone={alarm.tone} href={formatRoute({ page: 'run', runId: id })}>
          <Icon name={toneIcons[alarm.tone]} size={13} /> Echo Trap: {alarm.word.toLowerCase()}
        </a>
      )}
    </span>
  );
}

/** Actions that are not in the menu, because the page has buttons or links for them. */
const headerActions = [
  'run.page',
  'run.replay',
  'run.start',
  'run.submit',
  'run.pause',
  'run.stop',
  'run.star',
  'run.play',
] as const satisfies Parameters<typeof RunMenu>[0]['without'];

/** Shows the progress in one line of cells with fixed widths. */
function Facts({ run }: { run: RunSummary }) {
  const { phase, status, etaSeconds, startedAt } = run;
  const elapsed = elapsedSeconds(run);
  const trains = status === 'running' && phase !== null;
  const text = trains ? describePhase(phase) : statusText(run);
  return (
    <dl className={`run-facts ${styles.facts}`}>
      <Fact title="Iteration" name="iteration">
        {run.iteration} <span className="faint">of {run.iterations}</span>
      </Fact>
      <Fact title="Phase" name="phase" tip={text}>
        <span className={trains ? styles.words : 'faint'}>{text}</span>
        {trains && phase.total > 1 && (
          <span className={styles.bar}>
            <Progress value={phase.done / phase.total} label="Phase" status={status} />
          </span>
        )}
      </Fact>
      {isLive(status) ? (
        <Fact title="Time left" name="left">
          {etaSeconds === null ? <span className="faint">–</span> : `about ${duration(etaSeconds)}`}
        </Fact>
      ) : (
        elapsed !== null && (
          <Fact title="Duration" name="left" tip="Training time, without pauses and interruptions">
            {duration(elapsed)}
          </Fact>
        )
      )}
      {startedAt !== null && (
        <Fact title="Started" name="started" tip={dayAndClock(startedAt)}>
          {ago(startedAt, Date.now())}
        </Fact>
      )}
    </dl>
  );
}

interface FactProps {
  title: string;
  /** Determines the width of the cell. */
  name: 'iteration' | 'phase' | 'left' | 'started';
  tip?: string;
  children: ReactNode;
}

const Fact = ({ title, name, tip, children }: FactProps) => (
  <div className={styles[name]} title={tip}>
    <dt>{title}</dt>
    <dd>{children}</dd>
  </div>
);

const ordinalRules = new Intl.PluralRules('en', { type: 'ordinal' });
const ordinalEndings: Record<string, string> = { one: 'st', two: 'nd', few: 'rd' };
const ordinal = (number: number) => `${number}${ordinalEndings[ordinalRules.select(number)] ?? 'th'}`;

/** Describes a run that isn't running, or that reports no phase. */
export function statusText(run: RunSummary): string {
  const { status, iteration, job, phase, queuePosition } = run;
  // The job's panel describes its state.
  if (job?.phase === 'pending' && status !== 'paused') return 'Waiting for the job';
  if (job && hasActiveJob(run) && !['running', 'paused', 'completed'].includes(status)) {
    if (job.phase !== 'running') return 'Job state unknown';
    // After an end, the job also ends, or it was requeued and starts the run again.
    return status === 'created' ? 'Starting…' : 'The job is running';
  }
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
      return 'The trainer exited unexpectedly. Resume to continue.';
    case 'stopped':
      return successorOf(run) !== null
        ? 'Stopped, and rolled back in another run.'
        : `Stopped${run.stopReason === null ? '' : ' early'}. Resume to continue from the last checkpoint.`;
    case 'failed':
      return `Failed after iteration ${iteration}. Resume to try again.`;
    default:
      return 'Starting…';
  }
}
