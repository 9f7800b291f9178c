import type { RunSummary } from '../../../core/contract/contract.ts';
import { panelHashes } from '../../../core/contract/panel-words.ts';
import { formatRoute } from '../../base/routes.ts';
import { Button, Progress, StatusBadge } from '../../components/basics.tsx';
import { ago, duration, percent } from '../../components/format.ts';
import { Icon } from '../../components/icon.tsx';
import { elapsedSeconds, successOf } from '../../components/run-facts.ts';
import { useApp, useListedRuns } from '../../stores/app-store.ts';
import styles from './recent-runs.module.css';

const maxRuns = 8;

export function RecentRuns() {
  const { runs, archived } = useListedRuns();
  const { showArchived, toggleArchived } = useApp();
  if (!runs || runs.length + archived === 0) return null;
  const listed = runs.slice(0, maxRuns);
  return (
    <section aria-labelledby="recent-runs">
      <div className="section-head">
        <h2 id="recent-runs">Recent runs</h2>
        {archived > 0 && (
          <Button kind="quiet" onClick={toggleArchived}>
            {showArchived ? 'Hide' : 'Show'} {archived} archived
          </Button>
        )}
      </div>
      {listed.length === 0 ? <p className="muted">All runs are archived.</p> : <RunTable runs={listed} />}
    </section>
  );
}

function RunTable({ runs }: { runs: readonly RunSummary[] }) {
  const now = Date.now();
  return (
    <div className="panel table-panel">
      <table className="table">
        <thead>
          <tr>
            <th scope="col">Run</th>
            <th scope="col">Status</th>
            <th scope="col">Progress</th>
            <th scope="col" className="numeric" title="Latest evaluation">
              Success
            </th>
            <th
              scope="col"
              className={`numeric ${styles.optional}`}
              title="Success of the latest rollout, at the training temperature"
            >
              Rollout success
            </th>
            <th scope="col" className="numeric">
              Duration
            </th>
            <th scope="col">Created</th>
          </tr>
        </thead>
        <tbody>
          {runs.map((run) => (
            <Row key={run.id} run={run} now={now} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Row({ run, now }: { run: RunSummary; now: number }) {
  const algorithm = useApp(({ presets }) => presets?.find(({ id }) => id === run.preset)?.algorithm);
  const { evaluation, rollout } = successOf(run);
  const elapsed = elapsedSeconds(run);
  return (
    <tr>
      <th scope="row" className={styles.run}>
        <a href={formatRoute({ page: 'run', runId: run.id })}>{run.name}</a>
        {run.marks.starred && (
          <span className={styles.star}>
            <Icon name="star" size={12} />
            <span className="visually-hidden">Starred</span>
          </span>
        )}
        {algorithm && <span className={`${styles.algorithm} muted small`}>{algorithm}</span>}
        {run.marks.tags.length > 0 && (
          <span className={`${styles.tags} wrap`}>
            {run.marks.tags.map((tag) => (
              <span key={tag} className="tag">
                {tag}
              </span>
            ))}
          </span>
        )}
      </th>
      <td>
        <StatusBadge run={run} />
      </td>
      <td className="table-progress">
        <Progress value={run.iteration / run.iterations} label={`Progress of ${run.name}`} status={run.status} />
        <span className="faint">
          {run.iteration} / {run.iterations}
        </span>
      </td>
      <td className="numeric" title={run.panels.length > 0 ? `On panel ${panelHashes(run.panels)}` : undefined}>
        {evaluation === undefined ? '–' : percent(evaluation)}
      </td>
      <td className={`numeric ${styles.optional}`}>{rollout === undefined ? '–' : percent(rollout)}</td>
      <td className="numeric">{elapsed === null ? '–' : duration(elapsed)}</td>
      <td className="faint">{ago(run.createdAt, now)}</td>
    </tr>
  );
}
