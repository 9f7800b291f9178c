import { limitSeconds, type SlurmTarget } from './targets.ts';

/** Describes the jobs of a sweep and their maximum cost. `seconds`: training time of a run on this machine; null if unknown. */
export function priceInWords(jobs: number, target: SlurmTarget, seconds: number | null): string {
  const { gpus, cpus, time, simultaneous = jobs } = target;
  const [count, unit] = gpus > 0 ? [gpus, 'GPU'] : [cpus, 'CPU'];
  const hours = (jobs * count * limitSeconds(time)) / 3600;
  const most = `${jobs} ${jobs === 1 ? 'job' : 'jobs'} with at most ${rounded(hours)} ${unit} hours per attempt`;
  if (seconds === null) return most;
  const rounds = Math.ceil(jobs / Math.min(jobs, simultaneous));
  return `${most}, about ${rounded((rounds * seconds) / 3600)} hours with ${Math.min(jobs, simultaneous)} at once at this machine's speed`;
}

const rounded = (value: number) => Number(value.toPrecision(2)).toString();
