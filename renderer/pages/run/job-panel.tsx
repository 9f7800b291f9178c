import { type ReactNode, useState } from 'react';
import type { JobAttempt, JobLog, RunJob, RunSummary } from '../../../core/contract/contract.ts';
import { count } from '../../../core/contract/numbers.ts';
import { useApi } from '../../api/context.ts';
import { Button } from '../../components/basics.tsx';
import { dayAndClock, duration } from '../../components/format.ts';
import { Icon, type IconName } from '../../components/icon.tsx';
import { ScrollingRegion } from '../../components/scrolling-region.tsx';
import { useAction } from '../../components/use-action.ts';
import { useQuery } from '../../stores/use-query.ts';
import { EndJob, JobPriority } from './job-dialogs.tsx';
import styles from './job-panel.module.css';

/** Shows the newest job of a run on a cluster: its state, actions, attempts, and the log of a failed job. */
export function JobPanel({ run, job }: { run: RunSummary; job: RunJob }) {
  const [open, setOpen] = useState(false);
  const shows = open || job.failed;
  const state = `${job.job} ${job.text} ${job.attempts}`;
  const { value } = useQuery('cluster.job', shows ? { runId: run.id } : null, 0, state);
  const tone = job.impossible || job.failed ? 'bad' : job.phase === 'unknown' ? 'warning' : undefined;
  return (
    <section className={`panel ${styles.job}`} aria-label="Job" data-tone={tone}>
      <div className={styles.state}>
        <Icon name={iconOf(job)} />
        <p role="status">
          <strong>
            Job {job.job} on {job.target}
          </strong>{' '}
          <span className={styles.text}>{capitalized(job.text)}</span>
          {job.limit !== null && (
            <span className="faint" title="Until the time limit of this attempt, after which the run resumes">
              {' '}
              {duration(Math.max(0, (job.limit - Date.now()) / 1000))} left
            </span>
          )}
        </p>
        <Actions run={run} job={job} />
      </div>
      {job.failed && value && <Logs logs={value.logs} />}
      {job.attempts > 0 && (
        <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
          <summary>{count(job.attempts, 'attempt')}</summary>
          <Attempts attempts={value?.attempts ?? []} />
        </details>
      )}
    </section>
  );
}

const capitalized = (text: string) => `${text[0]?.toUpperCase() ?? ''}${text.slice(1)}`;

function iconOf({ phase, impossible, failed }: RunJob): IconName {
  if (impossible || failed) return 'critical';
  if (phase === 'unknown') return 'warning';
  return phase === 'ended' ? 'ok' : phase === 'running' ? 'play' : 'queue';
}

/** Shows the actions that apply to the state of the job. */
function Actions({ run, job: { phase, held, impossible, nice } }: { run: RunSummary; job: RunJob }) {
  const api = useApi();
  const [busy, perform] = useAction();
  const [dialog, setDialog] = useState<'cancel' | 'requeue' | 'priority' | null>(null);
  const close = () => setDialog(null);
  const act = (action: 'hold' | 'release') => perform(() => api.call('cluster.act', { runId: run.id, action }));
  if (phase === 'ended') return null;
  return (
    <fieldset className="controls" aria-label="Job">
      {phase === 'pending' && !impossible && (
        <>
          <Button
            writes
            icon={held ? 'play' : 'pause'}
            disabled={busy}
            onClick={() => act(held ? 'release' : 'hold')}
            title={held ? 'Let the job start' : 'Keep the job pending until you release it'}
          >
            {held ? 'Release' : 'Hold'}
          </Button>
          <Button writes disabled={busy} onClick={() => setDialog('priority')}>
            Priority…
          </Button>
        </>
      )}
      {phase === 'running' && (
        <Button writes icon="reset" disabled={busy} onClick={() => setDialog('requeue')}>
          Requeue…
        </Button>
      )}
      <Button writes icon="stop" kind="danger" disabled={busy} onClick={() => setDialog('cancel')}>
        Cancel job…
      </Button>
      {dialog === 'priority' && <JobPriority run={run} nice={nice ?? 0} close={close} />}
      {(dialog === 'cancel' || dialog === 'requeue') && <EndJob run={run} action={dialog} close={close} />}
    </fieldset>
  );
}

/** Shows the ends of the logs of a failed job. */
function Logs({ logs }: { logs: readonly JobLog[] }) {
  return logs.map(({ name, lines }) => (
    <figure key={name} className={styles.log}>
      <figcaption className="faint small">Last lines of {name}</figcaption>
      <ScrollingRegion className={styles.lines} aria-label={`Last lines of ${name}`}>
        <pre>{lines.join('\n')}</pre>
      </ScrollingRegion>
    </figure>
  ));
}

const attemptColumns: readonly [head: string, cell: (attempt: JobAttempt, index: number) => ReactNode][] = [
  ['Attempt', (_, index) => index + 1],
  ['Job', ({ job, restart }) => (restart > 0 ? `${job}, requeue ${restart}` : job)],
  ['Node', ({ node }) => node],
  ['Started', ({ began }) => dayAndClock(began)],
  ['Duration', ({ began, ended }) => (ended === null ? '–' : duration((ended - began) / 1000))],
  ['Exit code', ({ code }) => code ?? '–'],
];

function Attempts({ attempts }: { attempts: readonly JobAttempt[] }) {
  return (
    <ScrollingRegion className={styles.attempts} aria-label="Attempts">
      <table>
        <thead>
          <tr>
            {attemptColumns.map(([head]) => (
              <th key={head} scope="col">
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {attempts.map((attempt, index) => (
            <tr key={`${attempt.job} ${attempt.restart}`}>
              {attemptColumns.map(([head, cell]) => (
                <td key={head}>{cell(attempt, index)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollingRegion>
  );
}
