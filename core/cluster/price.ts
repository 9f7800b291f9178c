import type { JobPrice } from '../contract/cluster.ts';
import { limitSeconds, type SlurmTarget } from '../contract/cluster-targets.ts';

/** Returns the price of jobs. `seconds`: training time of a run on this machine; null if unknown. `isArray`: whether the jobs are an array, whose simultaneous jobs the target limits. */
export function priceOf(jobs: number, target: SlurmTarget, seconds: number | null, isArray: boolean): JobPrice {
  const { gpus, cpus, time, simultaneous = jobs } = target;
  const [count, unit] = gpus > 0 ? [gpus, 'GPU' as const] : [cpus, 'CPU' as const];
  const atOnce = isArray ? Math.min(jobs, simultaneous) : jobs;
  return {
    ...{ jobs, unit, atOnce, hours: (jobs * count * limitSeconds(time)) / 3600 },
    seconds: seconds === null ? null : Math.ceil(jobs / atOnce) * seconds,
  };
}
