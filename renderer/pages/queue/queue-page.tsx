import type { RunSummary } from '../../../core/contract/contract.ts';
import { isLive } from '../../../core/contract/run-facts.ts';
import { formatRoute } from '../../base/routes.ts';
import { useTitle } from '../../base/title.ts';
import { Button, Empty, Progress, StatusBadge } from '../../components/basics.tsx';
import { duration } from '../../components/format.ts';
import { deviceIdOf, queueOf, shareDone } from '../../components/run-facts.ts';
import { hasClusters, useApp } from '../../stores/app-store.ts';
import { useDialogs } from '../../stores/dialogs-store.ts';
import styles from './queue.module.css';
import { QueueList } from './queue-list.tsx';

/** Shows the runs in training and the queued runs in the order of their start. */
export function QueuePage() {
  const runs = useApp((state) => state.runs);
  const queued = queueOf(runs);
  const live = runs?.filter(({ status }) => isLive(status)) ?? [];
  const canSubmit = useApp(hasClusters);
  const openDialog = useDialogs((state) => state.openDialog);
  useTitle('Queue');
  return (
    <div className="page" data-narrow>
      <header className="page-head">
        <div>
          <h1>Queue</h1>
          <p className="muted">Queued runs start automatically on every free device.</p>
        </div>
        {queued.length > 0 && canSubmit && (
          <Button writes icon="system" onClick={() => openDialog({ kind: 'submit', jobs: { runs: queued } })}>
            Submit to a cluster…
          </Button>
        )}
      </header>
      {runs === null && <Empty title="Loading the queue…" />}
      {live.length > 0 && (
        <section className="stack" aria-labelledby="running">
          <h2 id="running">Running</h2>
          <ul className={`panel ${styles.list}`}>
            {live.map((run) => (
              <LiveRun key={run.id} run={run} />
            ))}
          </ul>
        </section>
      )}
      {queued.length > 0 && <QueueList queued={queued} />}
      {runs !== null && queued.length === 0 && (
        <div className="panel">
          <Empty title="No runs are queued">
            <p>
              Choose “Add to queue” when you <a href={formatRoute({ page: 'start' })}>start a run</a> while another one
              trains.
            </p>
          </Empty>
        </div>
      )}
    </div>
  );
}

function LiveRun({ run }: { run: RunSummary }) {
  const { id, name, status, iteration, iterations, etaSeconds } = run;
  const devices = useApp(({ system }) => system?.devices) ?? [];
  const device = deviceIdOf(run, devices);
  return (
    <li className={styles.live}>
      <a href={formatRoute({ page: 'run', runId: id })}>{name}</a>
      <span>
        <StatusBadge run={run} />
      </span>
      <span className={styles.facts}>{device === 'cpu' ? 'CPU' : device}</span>
      <span className={styles.progress}>
        <Progress value={shareDone(run)} label={`Progress of ${name}`} status={status} />
        <span className={styles.facts}>
          {iteration} / {iterations}
        </span>
      </span>
      <span className={styles.facts}>{etaSeconds !== null && `${duration(etaSeconds)} left`}</span>
    </li>
  );
}
