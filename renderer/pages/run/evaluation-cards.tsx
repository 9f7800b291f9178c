import { useSyncExternalStore } from 'react';
import { evaluationLabels } from '../../charts/chart-specs.ts';
import type { RunSeries } from '../../charts/run-series.ts';
import { number, percent } from '../../components/format.ts';
import { Interval } from '../../components/interval.tsx';
import { formatRoute } from '../../router.ts';

/** The newest evaluation of each validated environment. */
export function EvaluationCards({ runId, series }: { runId: string; series: RunSeries }) {
  useSyncExternalStore(series.subscribe, () => series.version);
  const labels = evaluationLabels(series.names());
  if (labels.length === 0) return null;
  return (
    <section className="evaluation-cards" aria-label="Newest evaluations">
      {labels.map(({ label, color }) => (
        <Card key={label} runId={runId} series={series} label={label} color={color} />
      ))}
    </section>
  );
}

interface CardProps {
  runId: string;
  series: RunSeries;
  label: string;
  color: string;
}

function Card({ runId, series, label, color }: CardProps) {
  const of = (name: string) => series.get(`evaluation/${label}/${name}`);
  const success = of('success_rate');
  const newest = success?.newest();
  if (!success || !newest) return null;
  const { iteration, value } = newest;
  const change = value - success.values()[0]!;
  const low = of('success_rate_low')?.at(iteration);
  const high = of('success_rate_high')?.at(iteration);
  const facts: [string, number | undefined, (value: number) => string][] = [
    ['Reward', of('reward_mean')?.at(iteration), number],
    ['Turns', of('turns')?.at(iteration), number],
    ['Tokens', of('response_tokens')?.at(iteration), number],
    ['Valid format', of('format_valid_rate')?.at(iteration), (share) => percent(share)],
  ];
  const first = `${String(iteration).padStart(6, '0')}-${label}-0000`;
  return (
    <article className="panel evaluation-card" aria-labelledby={`evaluation-${label}`}>
      <header>
        <span className="chart-key" style={{ color: `var(--${color})` }} aria-hidden="true" />
        <h3 id={`evaluation-${label}`}>{label}</h3>
        <span className="spacer" />
        <a href={formatRoute({ page: 'replay', runId, episodeId: first })}>Replay levels</a>
      </header>
      <p className="evaluation-success">
        <strong>{percent(value)}</strong>
        {low !== undefined && high !== undefined && (
          <Interval value={value} low={low} high={high} color={color} />
        )}
      </p>
      <p className="faint">
        success at iteration {iteration}
        {success.length > 1 &&
          `, ${change < 0 ? '−' : '+'}${Math.abs(change * 100).toFixed(1)} points since the first`}
      </p>
      <dl>
        {facts.flatMap(([name, fact, format]) =>
          fact === undefined
            ? []
            : [
                <div key={name}>
                  <dt>{name}</dt>
                  <dd>{format(fact)}</dd>
                </div>,
              ],
        )}
      </dl>
    </article>
  );
}
