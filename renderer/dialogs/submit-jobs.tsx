import { type ReactNode, useId, useState } from 'react';
import type { JobPrice, PlannedJobs } from '../../core/contract/cluster.ts';
import type { ApiError, Output, RunSummary } from '../../core/contract/contract.ts';
import { asFailure } from '../../core/contract/failure.ts';
import { count } from '../../core/contract/numbers.ts';
import { sentence } from '../../core/contract/sentence.ts';
import type { Api } from '../api/api.ts';
import { useApi } from '../api/context.ts';
import { navigate } from '../base/router.ts';
import { Button, ErrorNote } from '../components/basics.tsx';
import { Dialog } from '../components/dialog.tsx';
import fields from '../components/dialog-content.module.css';
import { approximateDuration } from '../components/estimated-time.tsx';
import { ScrollingRegion } from '../components/scrolling-region.tsx';
import { useApp } from '../stores/app-store.ts';
import { useConsent } from '../stores/consent-store.ts';
import type { JobsToSubmit } from '../stores/dialogs-store.ts';
import { useQuery } from '../stores/use-query.ts';
import { Facts } from './new-run.tsx';
import styles from './submit-jobs.module.css';

interface SubmitJobsProps {
  jobs: JobsToSubmit;
  /** The initially selected target. */
  target?: string | undefined;
  close: () => void;
}

type Plan = Output<'cluster.plan'>;

/** Shows the batch script of jobs, what they cost and whether they could start, and submits them. */
export function SubmitJobs({ jobs, target: first, close }: SubmitJobsProps) {
  const api = useApi();
  const id = useId();
  const { notify } = useApp.getState();
  const targets = useApp((state) => state.clusters?.targets) ?? [];
  const asked = useConsent((state) => state.asked !== null);
  const [target, setTarget] = useState(first ?? targets[0]?.name ?? '');
  const [planned, setPlanned] = useState(() => plannedJobs(jobs));
  const plan = useQuery('cluster.plan', { target, jobs: planned }, 0);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<ApiError | null>(null);
  /** Submitted runs, and a new run that was created. */
  const [done, setDone] = useState<readonly string[]>([]);
  const shown = plan.fresh ? plan.value : null;
  const error = problem ?? plan.error ?? shown?.problem ?? null;

  async function submit(): Promise<void> {
    setBusy(true);
    setProblem(null);
    const finished = [...done];
    try {
      const text = await submitJobs(api, jobs, target, shown!, finished, (runId) => finished.push(runId));
      notify(text);
      leave(shown!.runId);
    } catch (cause) {
      setProblem(asFailure(cause).toApiError());
      setDone(finished);
      setPlanned(plannedJobs(jobs, finished));
      setBusy(false);
    }
  }
  /** Opens the page of a run or sweep that was created for its jobs. */
  function leave(newRunId: string | null = null): void {
    close();
    if ('study' in jobs) navigate({ page: 'study', studyId: jobs.study.id });
    const runId = 'newRun' in jobs ? (done[0] ?? newRunId) : null;
    if (runId) navigate({ page: 'run', runId });
  }
  function cancel(): void {
    if (done.length > 0 || ('study' in jobs && jobs.study.isNew)) leave();
    else close();
  }

  return (
    <Dialog
      // Hidden while the user is asked about a command of the run.
      open={!asked}
      wide
      onClose={cancel}
      title={titleOf(jobs)}
      actions={
        <>
          <Button onClick={cancel}>Cancel</Button>
          {error && (
            <Button
              icon="reset"
              disabled={busy}
              onClick={() => {
                setProblem(null);
                plan.refresh();
              }}
            >
              Check again
            </Button>
          )}
          <Button
            writes
            kind="primary"
            icon="play"
            disabled={busy || !shown || Boolean(shown.problem)}
            onClick={() => void submit()}
          >
            {busy ? 'Submitting…' : 'Submit'}
          </Button>
        </>
      }
    >
      {targets.length > 1 && (
        <label className={fields.field} htmlFor={id}>
          Cluster
          <select id={id} value={target} disabled={busy} onChange={(event) => setTarget(event.target.value)}>
            {targets.map(({ name, summary }) => (
              <option key={name} value={name}>
                {name} ({summary})
              </option>
            ))}
          </select>
        </label>
      )}
      <Facts facts={factsOf(target, shown)} />
      {error && <ErrorNote error={withProgress(error, done, jobs)} />}
      <section className={styles.script}>
        <h3>Batch script</h3>
        <p className="muted small">{scriptNote(jobs, done)}</p>
        <ScrollingRegion className={styles.lines} aria-label="Batch script">
          <pre>{shown?.script ?? (error ? '' : 'Writing the script…')}</pre>
        </ScrollingRegion>
      </section>
    </Dialog>
  );
}

/** `done`: runs that were submitted. For a new run: its id if it was created but not submitted, so that it is not created twice. */
function plannedJobs(jobs: JobsToSubmit, done: readonly string[] = []): PlannedJobs {
  if ('runs' in jobs) return { runIds: remaining(jobs.runs, done).map(({ id }) => id) };
  if ('study' in jobs) return { studyId: jobs.study.id };
  if (done.length > 0) return { runIds: [...done] };
  return { newRun: { ...jobs.newRun.source, set: jobs.newRun.set } };
}

const remaining = (runs: readonly RunSummary[], done: readonly string[]) => runs.filter(({ id }) => !done.includes(id));

function titleOf(jobs: JobsToSubmit): string {
  if ('study' in jobs) return `Submit ${jobs.study.name}`;
  if ('newRun' in jobs) return 'Submit the run';
  return jobs.runs.length === 1 ? `Submit ${jobs.runs[0]!.name}` : `Submit ${jobs.runs.length} runs`;
}

function scriptNote(jobs: JobsToSubmit, done: readonly string[]): string {
  if ('study' in jobs) return "Saved as slurm.sh in the folder of the sweep's jobs.";
  const [first, ...others] = 'runs' in jobs ? remaining(jobs.runs, done) : [];
  if (others.length === 0) return 'Saved as slurm.sh in the run folder.';
  return `The script of ${first!.name}. The other ${others.length} differ only in the run. Saved as slurm.sh in each run folder.`;
}

const hours = (value: number, unit: string) =>
  `${Number(value.toPrecision(2)).toLocaleString('en')} ${unit} hours per attempt`;

function factsOf(target: string, plan: Plan | null): [string, ReactNode][] {
  return [
    ['Jobs', plan ? jobsText(plan.price, target) : '…'],
    ['At most', plan ? hours(plan.price.hours, plan.price.unit) : '…'],
    ['Duration', plan ? durationText(plan.price) : '…'],
    ['Start', plan ? (plan.start ?? "Can't start") : '…'],
  ];
}

const jobsText = ({ jobs, atOnce }: JobPrice, target: string) =>
  `${jobs} on ${target}${jobs > 1 ? `, at most ${atOnce} at once` : ''}`;

function durationText({ seconds }: JobPrice): string {
  if (seconds === null) return 'Unknown: no earlier run of this model on such a device.';
  return sentence(`${approximateDuration(seconds)} at this machine's speed`);
}

/** Adds the completed steps to the message of an error. */
function withProgress(error: ApiError, done: readonly string[], jobs: JobsToSubmit): ApiError {
  if (done.length === 0) return error;
  const before =
    'runs' in jobs
      ? `${done.length} of ${jobs.runs.length} runs were submitted.`
      : 'The run was created, but not submitted.';
  return { ...error, message: `${before} ${error.message}` };
}

/** Submits jobs and returns a confirmation. Skips the runs in `done`; calls `onDone` for each that was submitted or created. */
async function submitJobs(
  api: Api,
  jobs: JobsToSubmit,
  target: string,
  { runId, script }: Plan,
  done: readonly string[],
  onDone: (runId: string) => void,
): Promise<string> {
  if ('study' in jobs) {
    const submitted = await api.call('studies.submit', { studyId: jobs.study.id, target, script });
    return `${count(submitted.count, 'run')} submitted to ${target}.`;
  }
  if ('newRun' in jobs) {
    const { source, set, marks } = jobs.newRun;
    // Set if an earlier attempt created the run but failed to submit it.
    const [created] = done;
    if (!created) {
      await api.call('runs.create', { ...source, set, ...marks, id: runId!, start: false, startable: true });
      onDone(runId!);
    }
    await api.call('cluster.submit', { runId: created ?? runId!, target, script });
    return `Submitted to ${target}.`;
  }
  const { runs } = jobs;
  const toSubmit = remaining(runs, done);
  const scriptOf = toSubmit[0]?.id;
  for (const { id } of toSubmit) {
    await api.call('cluster.submit', { runId: id, target, script, scriptOf });
    if (runs.length > 1) onDone(id);
  }
  return `${runs.length === 1 ? runs[0]!.name : `${runs.length} runs`} submitted to ${target}.`;
}
