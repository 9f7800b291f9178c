import { percent } from './format.ts';

interface IntervalProps {
  /** Shares in [0, 1]. */
  value: number;
  low: number;
  high: number;
}

/** Shows the 95 % interval of a rate as a bar and as numbers. */
export function Interval({ value, low, high }: IntervalProps) {
  const position = (share: number) => `${Math.min(100, Math.max(0, share * 100))}%`;
  return (
    <span className="interval" title="95 % interval">
      <span className="interval-axis" aria-hidden="true">
        <span className="interval-bar" style={{ left: position(low), width: position(high - low) }} />
        <span className="interval-value" style={{ left: position(value) }} />
      </span>
      <span className="interval-numbers muted small">
        <span className="visually-hidden">95 % interval </span>
        {percent(low, 0).replace(' %', '')} to {percent(high, 0)}
      </span>
    </span>
  );
}
