import type { RunSummary } from '../../../core/contract/contract.ts';
import { formatRoute } from '../../base/routes.ts';
import { longDate } from '../../components/format.ts';
import { Icon } from '../../components/icon.tsx';
import { machineText } from '../../components/run-facts.ts';
import styles from './run-header.module.css';

/** Shows the header of the sample run: its origin, without controls. */
export function SampleHeader({ run }: { run: RunSummary }) {
  const build = run.machine?.build;
  const date = run.endedAt ?? run.createdAt;
  return (
    <header className="run-head">
      <div className={styles.title}>
        <h1 className={styles.name}>{run.name}</h1>
        <span className="badge">Sample run</span>
        <span className="spacer" />
        <a className="button" data-kind="primary" href={formatRoute({ page: 'new', from: { preset: run.preset } })}>
          <Icon name="play" size={14} />
          Train your own
        </a>
      </div>
      <p className="muted">
        Trained with StarPO Studio on {longDate(date)}
        {build && (
          <>
            {' '}
            (commit <code>{build}</code>)
          </>
        )}
        : {run.iterations} iterations of {run.algorithm}
        {run.machine && ` on ${machineText(run)}`}. Read-only example with the episodes of some iterations.
      </p>
    </header>
  );
}
