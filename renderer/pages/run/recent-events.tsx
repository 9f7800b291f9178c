import { useId } from 'react';
import { formatRoute } from '../../base/routes.ts';
import { ago } from '../../components/format.ts';
import { useRun } from '../../views/run-view.tsx';
import { withoutRepeats } from './log-panel.tsx';
import styles from './overview.module.css';

const maxEvents = 6;

/** Shows the newest log messages, newest first. */
export function RecentEvents() {
  const title = useId();
  const runId = useRun((state) => state.runId);
  const log = useRun((state) => state.log);
  const loaded = useRun((state) => state.loaded);
  const newest = withoutRepeats(log).slice(-maxEvents).reverse();
  return (
    <section className={`panel ${styles.events}`} aria-labelledby={title}>
      <h2 id={title}>
        Recent events <a href={formatRoute({ page: 'run', runId, tab: 'log' })}>Open log</a>
      </h2>
      <ul>
        {newest.length === 0 && <li className="faint">{loaded ? 'No events yet.' : 'Loading events…'}</li>}
        {newest.map(({ seq, time, level, message }) => (
          <li key={seq} data-level={level}>
            <time className="faint" dateTime={new Date(time).toISOString()}>
              {ago(time, Date.now())}
            </time>
            <span title={message}>{message}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}
