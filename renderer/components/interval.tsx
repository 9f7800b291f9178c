import { percent } from './format.ts';

interface IntervalProps {
  /** Shares in [0, 1]. */
  value: number;
  low: number;
  high: number;
  color?: string;
}

/** A 95 % interval of a share, as a bar from 0 to 1 and as numbers. */
export function Interval({ value, low, high, color = 'accent' }: IntervalProps) {
  const place = (share: number) => `${Math.min(100, Math.max(0, share * 100))}%`;
  return (
    <span className="interval" title="95 % interval" style={{ color: `var(--${color})` }}>
      <span className="interval-axis" aria-hidden="true">
        <span className="interval-bar" style={{ left: place(low), width: place(high - low) }} />
        <span className="interval-value" style={{ left: place(value) }} />
      </span>
      <span className="interval-numbers">
        <span className="visually-hidden">95 % interval </span>
        {percent(low, 0).replace(' %', '')} to {percent(high, 0)}
      </span>
    </span>
  );
}
