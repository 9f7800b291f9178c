import { useSyncExternalStore } from 'react';
import { shortHash } from '../../../core/contract/panel-words.ts';
import { formatRoute } from '../../base/routes.ts';
import { evaluationLabels } from '../../charts/chart-specs.ts';
import type { SeriesSource } from '../../charts/series-source.ts';
import { percent } from '../../components/format.ts';
import { describeEvaluation } from '../../components/measured-how.ts';
import { environmentTitle } from '../../environments/registry.ts';
import { useRunSummary } from '../../stores/app-store.ts';
import { useRun } from '../../views/run-view.tsx';
import styles from './evaluation-figures.module.css';

/** Shows the newest evaluation of each environment above the success chart. */
export function EvaluationFigures({ runId, series }: { runId: string; series: SeriesSource }) {
  useSyncExternalStore(series.subscribe, () => series.version);
  const labels = evaluationLabels(series.names());
  return (
    <div className={styles.figures}>
      {labels.map(({ label }) => (
        <Figure key={label} runId={runId} series={series} label={label} named={labels.length > 1} />
      ))}
    </div>
  );
}

interface FigureProps {
  runId: string;
  series: SeriesSource;
  label: string;
  named: boolean;
}

function Figure({ runId, series, label, named }: FigureProps) {
  const config = useRun((state) => state.config);
  const panel = useRunSummary(runId)?.panels.find((each) => each.label === label);
  const metric = (name: string) => series.get(`evaluation/${label}/${name}`);
  const success = metric('success_rate');
  const newest = success?.newest();
  if (!success || !newest) return null;
  const { iteration, value } = newest;
  const change = value - success.values()[0]!;
  const low = metric('success_rate_low')?.at(iteration);
  const high = metric('success_rate_high')?.at(iteration);
  const first = `${String(iteration).padStart(6, '0')}-${label}-0000`;
  return (
    <p className={`${styles.figure} wrap`}>
      {named && <span className={styles.label}>{environmentTitle(label)}</span>}
      <strong>{percent(value)}</strong>
      <span className={`${styles.details} wrap muted small`}>
        {low !== undefined && high !== undefined && (
          <span>
            95 % interval {percent(low, 0).replace(' %', '')} to {percent(high, 0)}
          </span>
        )}
        <span title={panel && `SHA-256 of the levels: ${panel.hash}`}>
          {describeEvaluation(config)}, iteration {iteration}
          {panel && `, panel ${shortHash(panel.hash)}`}
        </span>
        {success.length > 1 && (
          <span>
            {change < 0 ? '−' : '+'}
            {Math.abs(change * 100).toFixed(1)} points
          </span>
        )}
        <a href={formatRoute({ page: 'replay', runId, episodeId: first })}>Replay levels</a>
      </span>
    </p>
  );
}
