import { useState, useSyncExternalStore } from 'react';
import type { TrapSignal } from '../../../../core/contract/contract.ts';
import { metricTitle } from '../../../../core/contract/metric-titles.ts';
import { count } from '../../../../core/contract/numbers.ts';
import { metricValue } from '../../../charts/metric-sections.ts';
import type { RunSeries } from '../../../charts/run-series.ts';
import { sparkline } from '../../../charts/sparkline.ts';
import { Button } from '../../../components/basics.tsx';
import { Icon } from '../../../components/icon.tsx';
import { shortScore } from './risk.tsx';
import styles from './signals.module.css';

const stageLabels: Record<TrapSignal['stage'], string> = {
  setting: 'setting of this run',
  early: 'before the reward drops',
  late: 'while the reward drops',
  confirming: 'after the reward has dropped',
};

/** Lists the signals that are active or contribute to the risk, each with its series and threshold. The rest is collapsed. */
export function Signals({ signals, series }: { signals: readonly TrapSignal[]; series: RunSeries }) {
  const [all, setAll] = useState(false);
  const ordered = signals.toSorted((a, b) => b.contribution - a.contribution || Number(b.on) - Number(a.on));
  const leading = ordered.filter(({ on, contribution }) => on || shortScore(contribution) !== '0');
  const shown = all ? ordered : leading;
  const more = ordered.length - leading.length;
  return (
    <div>
      <ul className={`${styles.signals} stack`} aria-label="Signals">
        {shown.map((signal) => (
          <Signal key={signal.name} signal={signal} series={series} />
        ))}
      </ul>
      {more > 0 && (
        <Button kind="quiet" onClick={() => setAll(!all)}>
          {all ? 'Show active signals only' : `Show ${count(more, 'more signal')}`}
        </Button>
      )}
    </div>
  );
}

function Signal({ signal, series }: { signal: TrapSignal; series: RunSeries }) {
  const { title, meaning, on, value, extreme, stage, contribution } = signal;
  const format = (figure: number) => metricValue(signal.series, figure);
  return (
    <li className={styles.signal} data-on={on || undefined} title={`${meaning} (${stageLabels[stage]})`}>
      <p className={`${styles.title} muted small`}>
        <Icon name={on ? 'warning' : 'quiet'} size={13} />
        <span>{title}</span>
      </p>
      <Line signal={signal} series={series} />
      <p className={`${styles.figures} wrap muted small`}>
        {value === null ? (
          <span>not measured</span>
        ) : (
          <span>
            now <strong>{format(value)}</strong>
          </span>
        )}
        {extreme !== null && value !== null && format(extreme) !== format(value) && (
          <span>worst {format(extreme)}</span>
        )}
        {shortScore(contribution) !== '0' && <span>adds {shortScore(contribution)}</span>}
        <BucketNote signal={signal} series={series} />
        <span className={styles.since}>{standingOf(signal)}</span>
      </p>
      <p className="visually-hidden">
        {metricTitle(signal.series)}. {meaning}
      </p>
    </li>
  );
}

/** Returns the limit of a signal, and for how long its value has been beyond it. */
export function standingOf({ on, since, stage, series, threshold, worse, beyond, needed }: TrapSignal): string {
  if (stage === 'setting') return 'a setting of this run';
  const limit =
    threshold === null || worse === null || series === '' ? '' : ` ${worse} ${metricValue(series, threshold)}`;
  if (on) return `active${limit} since iteration ${since}`;
  if (beyond > 0) return `${beyond} of ${needed} iterations${limit}`;
  return limit === '' ? 'OK' : `OK, active${limit}`;
}

/** Notes that the line shows means, if the series of a long run has buckets of iterations. */
function BucketNote({ signal, series }: { signal: TrapSignal; series: RunSeries }) {
  useSyncExternalStore(series.subscribe, () => series.version);
  const counts = series.get(signal.series)?.counts();
  const most = counts?.reduce((high, count) => Math.max(high, count), 1) ?? 1;
  return most > 1 ? <span>line: mean of up to {most.toLocaleString('en')} iterations</span> : null;
}

/** Draws the series as a sparkline, with a dashed line at the threshold; nothing without a series or if it is constant. */
function Line({ signal, series }: { signal: TrapSignal; series: RunSeries }) {
  useSyncExternalStore(series.subscribe, () => series.version);
  const metric = series.get(signal.series);
  if (!metric || metric.length < 2 || isConstant(metric.values())) return null;
  const { points, levels, at } = sparkline(metric.iterations(), metric.values(), [signal.threshold]);
  const [threshold] = levels;
  const x = (share: number) => (100 * share).toFixed(2);
  const y = (share: number) => (30 * share).toFixed(2);
  return (
    <svg className={styles.line} viewBox="0 0 100 30" preserveAspectRatio="none" aria-hidden="true">
      {signal.on && signal.since !== null && (
        <rect x={x(at(signal.since))} y="0" width={x(1 - at(signal.since))} height="30" className={styles.active} />
      )}
      {threshold !== null && threshold !== undefined && (
        <line x1="0" x2="100" y1={y(threshold)} y2={y(threshold)} className={styles.threshold} />
      )}
      <polyline points={points.map((point) => `${x(point.x)},${y(point.y)}`).join(' ')} className={styles.curve} />
    </svg>
  );
}

function isConstant(values: ArrayLike<number>): boolean {
  const finite = Array.from(values).filter(Number.isFinite);
  return finite.every((value) => value === finite[0]);
}
