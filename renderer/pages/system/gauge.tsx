import styles from './system-page.module.css';

interface GaugeProps {
  title: string;
  /** Current value, such as `43 %`. */
  value: string;
  note: string;
  /** Shares in [0, 1] at equal intervals, newest last; null if not measured. */
  shares: readonly (number | null)[];
  /** Width of the plot, in samples. */
  capacity: number;
  /** Width of the plot as time, such as `5 min`. */
  span: string;
}

const width = 240;
const height = 56;

/** Shows one hardware metric, now and over time. */
export function Gauge({ title, value, note, shares, capacity, span }: GaugeProps) {
  const measured = shares.filter((share) => share !== null);
  const mean = measured.reduce((sum, share) => sum + share, 0) / Math.max(1, measured.length);
  // Draw a single sample as a line.
  const plotted = shares.length === 1 ? [...shares, ...shares] : shares;
  const label = `${title}: ${value} now, average ${Math.round(mean * 100)} %`;
  return (
    <figure className={`panel ${styles.gauge}`} aria-label={label}>
      <figcaption>{title}</figcaption>
      <strong>{value}</strong>
      <svg viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" aria-hidden="true">
        <path
          className={styles.area}
          d={`${lineOf(plotted, capacity)} L${width} ${height} L${startOf(plotted, capacity)} ${height} Z`}
        />
        <path className={styles.line} d={lineOf(plotted, capacity)} />
      </svg>
      <span className={styles.scale} aria-hidden="true">
        <span>{span} ago</span>
        <span>now</span>
      </span>
      <span className="faint">{note}</span>
    </figure>
  );
}

const xOf = (index: number, count: number, capacity: number) =>
  width - ((count - 1 - index) / Math.max(1, capacity - 1)) * width;

const startOf = (shares: readonly unknown[], capacity: number) => xOf(0, shares.length, capacity).toFixed(1);

function lineOf(shares: readonly (number | null)[], capacity: number): string {
  const points = shares.map((share, index) => {
    const y = height - 1 - (share ?? 0) * (height - 2);
    return `${xOf(index, shares.length, capacity).toFixed(1)} ${y.toFixed(1)}`;
  });
  return points.length === 0 ? `M0 ${height}` : `M${points.join(' L')}`;
}
