import type { TimeEstimate } from '../../core/contract/contract.ts';

/** Rounds a duration: `about 4 min`, `about 2.5 h`. */
export function approximateDuration(seconds: number): string {
  const { value, unit } = roundedDuration(seconds, seconds);
  return `about ${value} ${unit}`;
}

/** Rounds a range: `4–6 min`, `1.5–2 h`. Both ends have the unit of the upper one. */
export function durationRange(low: number, high: number): string {
  const [from, to] = [roundedDuration(low, high), roundedDuration(high, high)];
  return from.value === to.value ? `about ${to.value} ${to.unit}` : `${from.value}–${to.value} ${to.unit}`;
}

/** Rounds a duration in a unit suited for `scale` seconds. */
function roundedDuration(seconds: number, scale: number): { value: number; unit: string } {
  if (scale < 55) return { value: Math.max(5, Math.round(seconds / 5) * 5), unit: 's' };
  if (scale < 90 * 60) return { value: Math.max(1, Math.round(seconds / 60)), unit: 'min' };
  const hours = seconds / 3600;
  if (scale < 48 * 3600) return { value: Number(hours.toFixed(scale < 36_000 ? 1 : 0)), unit: 'h' };
  return { value: Math.round(hours / 24), unit: 'd' };
}

const basisText = ({ basis, runs }: TimeEstimate): string =>
  basis === 'measured'
    ? `Measured in ${runs === 1 ? 'an earlier run' : `${runs} earlier runs`}`
    : 'Typical time; measured after the first run';

/** Shows the estimated duration of a run on this machine, with the basis of the estimate. */
export function EstimatedTime({ time, label = 'on this machine' }: { time: TimeEstimate | null; label?: string }) {
  if (!time) return <span className="faint">time unknown</span>;
  const basis = basisText(time);
  return (
    <span title={basis}>
      {durationRange(time.low, time.high)}
      {label && ` ${label}`}
      <span className="visually-hidden"> ({basis.charAt(0).toLowerCase() + basis.slice(1)})</span>
    </span>
  );
}
