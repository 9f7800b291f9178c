import type { Estimate, StudyCell, StudyRow } from '../../../core/contract/contract.ts';
import { percent } from '../../components/format.ts';
import styles from './study-page.module.css';

const rowHeight = 44;
const width = 720;
/** Of the axis from 0 to 1. */
const left = 180;
const right = width - 28;
const place = (share: number) => left + share * (right - left);
const ticks = [0, 0.25, 0.5, 0.75, 1];

/** Success before and after training by point: means with 95 % intervals, and every run. The table below has the same in numbers. */
export function StudyChart({ rows, environment }: { rows: readonly StudyRow[]; environment: string }) {
  const height = rows.length * rowHeight + 28;
  return (
    <figure className={`panel ${styles.chart}`}>
      <figcaption>
        Success in {environment}: <span className={`${styles.key} ${styles.before}`} aria-hidden="true" />{' '}
        before and <span className={`${styles.key} ${styles.after}`} aria-hidden="true" /> after training,
        mean and 95 % interval over seeds; a dot for each run
      </figcaption>
      <svg viewBox={`0 0 ${width} ${height}`} role="img" aria-label={chartText(rows)}>
        {ticks.map((share) => (
          <g key={share}>
            <line className={styles.grid} x1={place(share)} x2={place(share)} y1={4} y2={height - 22} />
            <text className={styles.tick} x={place(share)} y={height - 6} textAnchor="middle">
              {percent(share, 0)}
            </text>
          </g>
        ))}
        {rows.map((row, index) => (
          <g key={row.name} transform={`translate(0 ${index * rowHeight + rowHeight / 2})`}>
            <text className={styles.point} x={left - 14} y={4} textAnchor="end">
              {row.name.length > 26 ? `${row.name.slice(0, 25)}…` : row.name}
              <title>{row.name}</title>
            </text>
            <Whisker estimate={row.before} cells={row.cells} y={-8} kind="before" />
            <Whisker estimate={row.after} cells={row.cells} y={8} kind="after" />
          </g>
        ))}
      </svg>
    </figure>
  );
}

interface WhiskerProps {
  estimate: Estimate | null;
  cells: readonly StudyCell[];
  y: number;
  kind: 'before' | 'after';
}

function Whisker({ estimate, cells, y, kind }: WhiskerProps) {
  return (
    <g className={styles[kind]} transform={`translate(0 ${y})`}>
      {cells.map(({ seed, [kind]: share }) =>
        share === null ? null : <circle key={seed} className={styles.run} cx={place(share)} cy={0} r={2.5} />,
      )}
      {estimate && estimate.low !== null && estimate.high !== null && (
        <line className={styles.interval} x1={place(estimate.low)} x2={place(estimate.high)} y1={0} y2={0} />
      )}
      {estimate && <circle className={styles.mean} cx={place(estimate.mean)} cy={0} r={4.5} />}
    </g>
  );
}

function chartText(rows: readonly StudyRow[]): string {
  const words = (estimate: Estimate | null) => (estimate ? percent(estimate.mean) : 'unknown');
  return rows
    .map(({ name, before, after }) => `${name}: ${words(before)} before, ${words(after)} after training`)
    .join('; ');
}
