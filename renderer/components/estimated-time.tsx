import type { TimeEstimate } from '../../core/contract/contract.ts';
import { useApp } from '../stores/app-store.ts';

/** Rounds a duration: `about 4 min`, `about 2.5 h`. */
export function approximateDuration(seconds: number): string {
  if (seconds < 55) return `about ${Math.max(5, Math.round(seconds / 5) * 5)} s`;
  if (seconds < 90 * 60) return `about ${Math.max(1, Math.round(seconds / 60))} min`;
  const hours = seconds / 3600;
  return hours < 48 ? `about ${Number(hours.toFixed(hours < 10 ? 1 : 0))} h` : `about ${Math.round(hours / 24)} d`;
}

function basisText({ basis, runs }: TimeEstimate, cores: number | null): string {
  if (basis === 'measured')
    return `Measured in ${runs === 1 ? 'an earlier run' : `${runs} earlier runs`} on this machine.`;
  const machine = cores === null ? '' : ` for ${cores} ${cores === 1 ? 'core' : 'cores'}`;
  return `Typical time${machine}. Measured after the first run on this machine.`;
}

/** Shows the estimated duration of a run on this machine, with the basis of the estimate. */
export function EstimatedTime({ time, label = 'on this machine' }: { time: TimeEstimate | null; label?: string }) {
  const cores = useApp(({ system }) => system?.cores ?? null);
  if (!time) return <span className="faint">time unknown</span>;
  const basis = basisText(time, cores);
  return (
    <span title={basis}>
      {approximateDuration(time.seconds)} {label}
      <span className="visually-hidden">. {basis}</span>
    </span>
  );
}
