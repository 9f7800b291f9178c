import { useEffect, useState } from 'react';
import type { ApiError, RunSummary } from '../../../core/contract/contract.ts';
import { useApi } from '../../api/context.ts';
import { ErrorNote, IconButton, StatusBadge } from '../../components/basics.tsx';
import { queueOf } from '../../components/run-facts.ts';
import { formatRoute } from '../../router.ts';
import { useApp } from '../../stores/app-store.ts';

/** The runs that wait for their device, next first. */
export function QueuePanel() {
  const api = useApi();
  const waiting = queueOf(useApp((state) => state.runs));
  const [problem, setProblem] = useState<ApiError | null>(null);
  const ids = waiting.map(({ id }) => id).join();
  useEffect(() => api.on('queue', (queue) => setProblem(queue.problem)), [api]);
  useEffect(() => {
    let shown = true;
    if (ids === '') setProblem(null);
    else
      api.call('queue.list', {}).then(
        (queue) => shown && setProblem(queue.problem),
        () => {},
      );
    return () => {
      shown = false;
    };
  }, [api, ids]);
  if (waiting.length === 0) return null;
  return (
    <section aria-labelledby="queue">
      <div className="section-head">
        <h2 id="queue">Queue</h2>
        <p className="muted">One run at a time; the next one starts when the device is free.</p>
      </div>
      {problem && <ErrorNote error={problem} kind="warning" />}
      <ol className="panel queue">
        {waiting.map((run) => (
          <Waiting key={run.id} run={run} last={run.queuePosition === waiting.length} />
        ))}
      </ol>
    </section>
  );
}

function Waiting({ run, last }: { run: RunSummary; last: boolean }) {
  const api = useApi();
  const report = useApp((state) => state.report);
  const position = run.queuePosition!;
  const move = (to: number) => api.call('queue.move', { runId: run.id, position: to }).catch(report);
  return (
    <li>
      <span className="queue-position faint">{position}</span>
      <a href={formatRoute({ page: 'run', runId: run.id })}>{run.name}</a>
      <span className="faint">{run.preset}</span>
      <span className="spacer" />
      <StatusBadge status={run.status} />
      <IconButton
        icon="up"
        label={`Move ${run.name} up`}
        disabled={position === 1}
        onClick={() => move(position - 1)}
      />
      <IconButton
        icon="down"
        label={`Move ${run.name} down`}
        disabled={last}
        onClick={() => move(position + 1)}
      />
      <IconButton
        icon="close"
        label={`Take ${run.name} out of the queue`}
        onClick={() => api.call('queue.remove', { runId: run.id }).catch(report)}
      />
    </li>
  );
}
