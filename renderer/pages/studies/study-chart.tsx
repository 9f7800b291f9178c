import type { Estimate, StudyCell, StudyRow } from '../../../core/contract/contract.ts';
import { panelWords } from '../../../core/contract/panel-words.ts';
import type { Reference } from '../../charts/references.ts';
import { percent } from '../../components/format.ts';
import { shortened } from '../../components/run-facts.ts';
import { useWidth } from '../../components/use-width.ts';
import { environmentTitle } from '../../environments/registry.ts';
import styles from './study-page.module.css';

/** CSS pixels. The chart is drawn at its layout width, so its text matches the page. */
const rowHeight = 44;
const maxWidth = 1100;
const letterWidth = 7;
/** Maximum share of the width for names. */
const namesShare = 0.36;
const ticks = [0, 0.25, 0.5, 0.75, 1];
/** Space above the rows for reference labels. */
const referenceHeight = 16;

interface StudyChartProps {
  rows: readonly StudyRow[];
  environment: string;
  /** Reference values of success. */
  references: readonly Reference[];
}

/** Success before and after training per setting: means, 95 % intervals for three or more seeds, and each run. The table has the same numbers. */
export function StudyChart({ rows, environment, references }: StudyChartProps) {
  const { ref, width: available } = useWidth();
  const width = Math.min(maxWidth, available);
  const top = references.length > 0 ? referenceHeight : 0;
  const height = rows.length * rowHeight + 28 + top;
  const longest = Math.max(...rows.map(({ name }) => name.length)) * letterWidth;
  const names = Math.min(longest, namesShare * width);
  const letters = Math.floor(names / letterWidth);
  const left = names + 20;
  const levels = panelWords(
    rows.flatMap(({ panels }) => panels),
    environment,
  );
  const xOf: XOf = (share) => left + share * (width - 28 - left);
  return (
    <figure className={`panel ${styles.chart}`}>
      <figcaption>
        Success in {environmentTitle(environment)}:{' '}
        <span className={`${styles.key} ${styles.before}`} aria-hidden="true" /> before and{' '}
        <span className={`${styles.key} ${styles.after}`} aria-hidden="true" /> after training, mean over seeds, 95 %
        interval from three seeds on; one dot per run{levels && `; ${levels}`}
      </figcaption>
      <div ref={ref}>
        {width > 0 && (
          <svg width={width} height={height} role="img" aria-label={chartText(rows, references)}>
            {ticks.map((share) => (
              <g key={share}>
                <line className={styles.grid} x1={xOf(share)} x2={xOf(share)} y1={top + 4} y2={height - 22} />
                <text className={styles.tick} x={xOf(share)} y={height - 6} textAnchor="middle">
                  {percent(share, 0)}
                </text>
              </g>
            ))}
            {references.map(({ value, label }) => (
              <g key={label}>
                <line className={styles.reference} x1={xOf(value)} x2={xOf(value)} y1={top} y2={height - 22} />
                <text className={styles.tick} x={xOf(value)} y={top - 4} textAnchor="middle">
                  {label}
                </text>
              </g>
            ))}
            {rows.map((row, index) => (
              <g key={row.name} transform={`translate(0 ${top + index * rowHeight + rowHeight / 2})`}>
                <text className={styles.point} x={left - 14} y={4} textAnchor="end">
                  {shortened(row.name, letters)}
                  <title>{row.name}</title>
                </text>
                <Whisker xOf={xOf} estimate={row.before} cells={row.cells} y={-8} kind="before" />
                <Whisker xOf={xOf} estimate={row.after} cells={row.cells} y={8} kind="after" />
              </g>
            ))}
          </svg>
        )}
      </div>
    </figure>
  );
}

/** Maps a share in [0, 1] to an x coordinate. */
type XOf = (share: number) => number;

interface WhiskerProps {
  xOf: XOf;
  estimate: Estimate | null;
  cells: readonly StudyCell[];
  y: number;
  kind: 'before' | 'after';
}

function Whisker({ xOf, estimate, cells, y, kind }: WhiskerProps) {
  return (
    <g className={styles[kind]} transform={`translate(0 ${y})`}>
      {cells.map(({ seed, [kind]: share }) =>
        share === null ? null : <circle key={seed} className={styles.run} cx={xOf(share)} cy={0} r={2.5} />,
      )}
      {estimate && estimate.low !== null && estimate.high !== null && (
        <line className={styles.interval} x1={xOf(estimate.low)} x2={xOf(estimate.high)} y1={0} y2={0} />
      )}
      {estimate && <circle className={styles.mean} cx={xOf(estimate.mean)} cy={0} r={4.5} />}
    </g>
  );
}

function chartText(rows: readonly StudyRow[], references: readonly Reference[]): string {
  const rateText = (estimate: Estimate | null) => (estimate ? percent(estimate.mean) : 'not measured');
  const results = rows.map(
    ({ name, before, after }) => `${name}: ${rateText(before)} before, ${rateText(after)} after training`,
  );
  const compared = references.length > 0 ? [`references: ${references.map(({ label }) => label).join(', ')}`] : [];
  return [...results, ...compared].join('; ');
}
