import type { RunJob } from './cluster-job.ts';
import type { KnownRunStatus, RunStatus, RunSummary } from './runs.ts';

/** Returns whether the run is running or paused. */
export const isLive = (status: RunStatus) => status === 'running' || status === 'paused';

const ends: readonly string[] = ['completed', 'stopped', 'failed', 'interrupted'] satisfies KnownRunStatus[];

/** Returns whether the run has ended: completed, stopped, failed or was interrupted. */
export const hasEnded = ({ status }: Pick<RunSummary, 'status'>) => ends.includes(status);

/** Returns whether training is finished: the run completed, or a rule of `early_stop` ended it. */
export const isFinished = ({ status, stopReason }: Pick<RunSummary, 'status' | 'stopReason'>) =>
  status === 'completed' || (status === 'stopped' && stopReason !== null);

/** Returns whether a job of the run is pending, running or in an unknown state, so that the run can't be started elsewhere. */
export const hasActiveJob = ({ job }: { job: RunJob | null }): boolean => job !== null && job.phase !== 'ended';

/** A device that is identified by its UUID, if known, else by its number. */
export interface DeviceKey {
  id: string;
  uuid?: string | null | undefined;
}

export const deviceKey = ({ id, uuid }: DeviceKey): string => uuid ?? id;

export const isSameDevice = (a: DeviceKey, b: DeviceKey): boolean =>
  a.uuid && b.uuid ? a.uuid === b.uuid : mayShareDevice(a.id, b.id);

/**
 * Returns the devices that a device setting may select: `auto` any GPU, or the CPU of a machine without one; `cuda` any GPU. `devices` are the usable
 * ones and those set aside, so that a failed GPU is never replaced by the CPU.
 */
export function devicesFor<D extends { id: string }>(setting: string, devices: readonly D[]): D[] {
  const gpus = devices.filter(({ id }) => id !== 'cpu');
  if (setting === 'cuda' || (setting === 'auto' && gpus.length > 0)) return gpus;
  return devices.filter(({ id }) => id === (setting === 'auto' ? 'cpu' : setting));
}

/** Returns whether a device setting selects a GPU by number, such as `cuda:1`. */
export const isNumberedGpu = (setting: string): boolean => /^cuda:\d+$/.test(setting);

/** Returns whether two device settings may select the same device: `auto` can be any, `cuda` any GPU. */
export function mayShareDevice(a: string, b: string): boolean {
  if (a === b || a === 'auto' || b === 'auto') return true;
  return (a === 'cuda' && b.startsWith('cuda')) || (b === 'cuda' && a.startsWith('cuda'));
}

const phaseWords: Record<string, string> = {
  load: 'Loading the model',
  evaluate: 'Evaluating',
  rollout: 'Playing episodes',
  filter: 'Filtering groups',
  diagnose: 'Measuring reasoning',
  update: 'Updating the policy',
  checkpoint: 'Writing a checkpoint',
};

/** Returns the title of a trainer phase; an unknown phase keeps its name. */
export const phaseTitle = (name: string) => phaseWords[name] ?? name;

/** Returns the environment label of an evaluation success metric; undefined for other metrics. */
export const evaluatedLabel = (name: string) => /^evaluation\/([^/]+)\/success_rate$/.exec(name)?.[1];

/** Returns the mean evaluation success over environments; undefined if none was evaluated. */
export function evaluatedSuccess(metrics: Readonly<Record<string, unknown>>): number | undefined {
  let [sum, count] = [0, 0];
  for (const [name, value] of Object.entries(metrics)) {
    if (!evaluatedLabel(name) || typeof value !== 'number' || !Number.isFinite(value)) continue;
    sum += value;
    count++;
  }
  return count > 0 ? sum / count : undefined;
}
