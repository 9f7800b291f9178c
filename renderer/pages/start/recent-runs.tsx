import { Button, Progress, StatusBadge } from '../../components/basics.tsx';
import { ago, duration, percent } from '../../components/format.ts';
import { Icon } from '../../components/icon.tsx';
import { successOf } from '../../components/run-facts.ts';
import { formatRoute } from '../../router.ts';
import { useApp, useListedRuns } from '../../stores/app-store.ts';

const shown = 8;

export function RecentRuns() {
  const { runs, archived } = useListedRuns();
  const { showArchived, toggleArchived } = useApp();
  if (!runs || runs.length + archived === 0) return null;
  const now = Date.now();
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
      <div className="panel table-panel">
        <table className="table">
          <thead>
            <tr>
              <th scope="col">Run</th>
              <th scope="col">Status</th>
              <th scope="col">Progress</th>
              <th scope="col" className="numeric">
                Evaluated
              </th>
              <th scope="col" className="numeric">
                Rollout
              </th>
              <th scope="col" className="numeric">
                Took
              </th>
              <th scope="col">Made</th>
            </tr>
          </thead>
          <tbody>
            {runs.slice(0, shown).map((run) => {
              const { evaluation, rollout } = successOf(run);
              return (
                <tr key={run.id}>
                  <th scope="row">
                    <a href={formatRoute({ page: 'run', runId: run.id })}>{run.name}</a>
                    {run.marks.starred && <Icon name="start" size={12} />}
                    <span className="faint table-sub">{run.preset}</span>
                    {run.marks.tags.map((tag) => (
                      <span key={tag} className="tag">
                        {tag}
                      </span>
                    ))}
                  </th>
                  <td>
                    <StatusBadge status={run.status} stalled={run.stalled !== null} />
                  </td>
                  <td className="table-progress">
                    <Progress
                      value={run.iteration / run.iterations}
                      label={`Progress of ${run.name}`}
                      status={run.status}
                    />
                    <span className="faint">
                      {run.iteration} / {run.iterations}
                    </span>
                  </td>
                  <td className="numeric">{evaluation === undefined ? '–' : percent(evaluation)}</td>
                  <td className="numeric">{rollout === undefined ? '–' : percent(rollout)}</td>
                  <td className="numeric">
                    {run.startedAt === null ? '–' : duration(((run.endedAt ?? now) - run.startedAt) / 1000)}
                  </td>
                  <td className="faint">{ago(run.createdAt, now)}</td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
    </section>
  );
}
