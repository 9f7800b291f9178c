import { useEffect, useState } from 'react';
import { type CheckRow, environmentChecks, type OwnEnvironment } from '../../../core/contract/contract.ts';
import { useApi } from '../../api/context.ts';
import { Button } from '../../components/basics.tsx';
import { ago } from '../../components/format.ts';
import { Section } from '../../components/section.tsx';
import { useTaskProgress } from '../../dialogs/task-progress.tsx';
import { useApp } from '../../stores/app-store.ts';
import styles from './environments.module.css';

const marks = { ok: '✓', failed: '✕', skipped: '–', pending: '○' } as const;
const verdicts = { ok: 'passed', failed: 'failed', skipped: 'does not apply', pending: 'not run' } as const;

const notRun = { verdict: 'pending', reason: '' } as const;

export const failedChecks = (rows: readonly CheckRow[]): number =>
  rows.filter(({ verdict }) => verdict === 'failed').length;

/** Lists all conformance checks from the beginning, so that results don't move the sections below. */
export function ChecksPanel({ environment: { id, checks } }: { environment: OwnEnvironment }) {
  const { rows, running, start, cancel } = useChecks(id);
  const results = running ? rows : (checks?.rows ?? []);
  return (
    <Section
      title="Checks"
      action={
        running ? (
          <Button icon="stop" onClick={cancel}>
            Cancel
          </Button>
        ) : (
          <Button writes icon="play" onClick={start}>
            {checks ? 'Run again' : 'Run checks'}
          </Button>
        )
      }
    >
      <p className="muted small" role="status">
        {running ? `Check ${rows.length + 1} is running…` : summaryOf(checks)}
      </p>
      <ul className={styles.checks} aria-label="Check results" aria-busy={running}>
        {environmentChecks.map((check) => {
          const { verdict, reason } = results.find((row) => row.check === check) ?? notRun;
          return (
            <li key={check} data-verdict={verdict}>
              <span className={styles.mark} aria-hidden="true">
                {marks[verdict]}
              </span>
              <span>
                {check}
                <span className="visually-hidden">: {verdicts[verdict]}</span>
                {reason && <span className={styles.reason}>{reason}</span>}
              </span>
            </li>
          );
        })}
      </ul>
    </Section>
  );
}

function summaryOf(checks: OwnEnvironment['checks']): string {
  if (!checks) return 'Not run yet';
  const failed = failedChecks(checks.rows);
  const when = ago(checks.time, Date.now());
  return failed > 0 ? `${failed} of ${checks.rows.length} failed, ${when}` : `All passed, ${when}`;
}

/** Starts and cancels checks. `rows` are the results so far, also if another window started them. */
function useChecks(id: string) {
  const api = useApi();
  const report = useApp((state) => state.report);
  const task = useTaskProgress('environment_check', null);
  const [rows, setRows] = useState<CheckRow[]>([]);
  const [running, setRunning] = useState(false);
  useEffect(() => api.on('environmentCheck', (notice) => notice.id === id && setRows(notice.rows)), [api, id]);
  const start = () => {
    setRows([]);
    setRunning(true);
    api
      .call('environments.check', { id })
      .catch((cause) => cause.code !== 'task_canceled' && report(cause))
      .finally(() => setRunning(false));
  };
  const cancel = () => {
    if (task) api.call('tasks.cancel', { taskId: task.id }).catch(report);
  };
  return { rows, running, start, cancel };
}
