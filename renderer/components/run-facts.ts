import { type Phase, type RunSummary, type SystemInfo, sampleRunId } from '../../core/contract/contract.ts';
import { count } from '../../core/contract/numbers.ts';
import {
  type DeviceKey,
  devicesFor,
  evaluatedSuccess,
  hasActiveJob,
  isLive,
  isSameDevice,
  mayShareDevice,
  phaseTitle,
} from '../../core/contract/run-facts.ts';
import { nameParts } from '../../core/contract/run-names.ts';

/** Returns the latest success rates in [0, 1], averaged over evaluation sets. */
export function successOf({ latest }: RunSummary): {
  evaluation: number | undefined;
  rollout: number | undefined;
} {
  return { evaluation: evaluatedSuccess(latest), rollout: latest['rollout/success_rate'] };
}

/** Unit of progress per phase. */
const phaseUnits: Record<string, string> = {
  evaluate: 'episodes',
  rollout: 'episodes',
  filter: 'groups',
  update: 'steps',
};

/** Describes a phase: `Playing episodes, 34 of 128`. An unknown phase is shown by its name. */
export function describePhase({ name, done, total }: Phase): string {
  const unit = phaseUnits[name] ?? '';
  return total > 1 ? `${phaseTitle(name)}, ${done} of ${total}${unit && ` ${unit}`}` : phaseTitle(name);
}

/** Returns whether the run can be started or resumed on this machine. */
export const isStartable = (run: Pick<RunSummary, 'status' | 'job'>) =>
  ['created', 'queued', 'stopped', 'interrupted', 'failed'].includes(run.status) && !hasActiveJob(run);

/** Returns whether runs can be trained from this one: it is neither imported nor the sample. */
export const canTrainFrom = ({ task, id }: Pick<RunSummary, 'task' | 'id'>) =>
  task !== 'imported' && id !== sampleRunId;

/** Returns the share of completed iterations, in [0, 1]. */
export function shareDone({ iteration, iterations }: Pick<RunSummary, 'iteration' | 'iterations'>): number {
  return iterations > 0 ? iteration / iterations : 0;
}

/** Returns the device of a run's last trainer, or the setting of a run that has not started. */
export const deviceOf = ({ machine, device }: RunSummary): DeviceKey =>
  machine ? { id: machine.device, uuid: machine.uuid } : { id: device };

/** Returns the id of the device that trains a run, such as `cuda:1`; null before its start. The trainer's own id of a MIG slice is always `cuda:0`. */
export const deviceIdOf = (run: RunSummary, devices: readonly DeviceKey[]): string | null =>
  run.machine && (devices.find((device) => isSameDevice(device, deviceOf(run)))?.id ?? run.machine.device);

/** Returns the live runs of this machine. A shared data folder also has those of other machines. */
export const liveHere = (runs: readonly RunSummary[] | null, system: Pick<SystemInfo, 'host'> | null): RunSummary[] =>
  runs?.filter((run) => isLive(run.status) && (!run.machine || !system || run.machine.host === system.host)) ?? [];

/** Returns the live and queued runs that keep a run with a device setting waiting: none while a device that it may use is free. */
export function runsOnDevice(
  runs: readonly RunSummary[] | null,
  setting: string,
  system: Pick<SystemInfo, 'devices' | 'host'> | null,
): RunSummary[] {
  const usable = devicesFor(setting, system?.devices.filter(({ available }) => available) ?? []);
  const possible: DeviceKey[] = usable.length > 0 ? usable : [{ id: setting }];
  const live = liveHere(runs, system).filter((run) => possible.some((each) => isSameDevice(each, deviceOf(run))));
  const queued = runs?.filter((run) => run.status === 'queued' && mayShareDevice(setting, run.device)) ?? [];
  const isFree = queued.length === 0 && possible.some((each) => !live.some((run) => isSameDevice(each, deviceOf(run))));
  return isFree ? [] : [...live, ...queued];
}

export const isDeviceInUse = (...facts: Parameters<typeof runsOnDevice>) => runsOnDevice(...facts).length > 0;

/** Returns the queued runs, next first. */
export function queueOf(runs: readonly RunSummary[] | null): RunSummary[] {
  const queued = runs?.filter(({ queuePosition }) => queuePosition !== null) ?? [];
  return queued.sort((a, b) => a.queuePosition! - b.queuePosition!);
}

/**
 * Returns the parts of a short name. For a run of a sweep these are its settings and seed, and the sweep's name,
 * unless the user has renamed the run.
 */
export function shortParts({ study, ...run }: Pick<RunSummary, 'id' | 'name' | 'study'>): {
  stem: string;
  hash: string;
  study: string | null;
} {
  const namedBySweep = study && run.name === `${study.name}: ${study.point} s${study.seed}`;
  if (!namedBySweep) return { ...nameParts(run), study: null };
  return { stem: study.point, hash: `s${study.seed}`, study: study.name };
}

/** Shortens a name at a word boundary. */
export function shortened(name: string, letters: number): string {
  if (name.length <= letters) return name;
  const cut = name.slice(0, letters);
  const end = cut.lastIndexOf(' ');
  return `${cut.slice(0, end > letters / 2 ? end : letters).replace(/[ ,.:;]+$/, '')}…`;
}

/** Returns two letters for a name: the initials of its first two words or, for a single word, its first two capitals, else its first two letters: `WC`, `FL`, `ba`. */
export function initials(name: string): string {
  const words = name.match(/[\p{L}\p{N}]+/gu) ?? [];
  const capitals = words[0]?.match(/\p{Lu}/gu) ?? [];
  if (words.length > 1) return `${[...words[0]!][0]}${[...words[1]!][0]}`.toUpperCase();
  return capitals.length > 1 ? capitals.slice(0, 2).join('') : [...(words[0] ?? '')].slice(0, 2).join('');
}

/** Returns the training time in seconds, or null before the first start. */
export const elapsedSeconds = ({ startedAt, trainingSeconds }: RunSummary): number | null =>
  startedAt === null ? null : trainingSeconds;

/** Describes the hardware: `CPU, 2 threads` or a GPU's name; empty before the first start. */
export function machineText({ machine }: RunSummary): string {
  if (!machine) return '';
  const { device, name, threads } = machine;
  if (device === 'cpu') return `CPU, ${count(threads, 'thread')}`;
  return name ?? device;
}

/** Returns whether a run has a policy to play: it trains by reinforcement learning and has started. */
export const hasPolicy = ({ task, startedAt }: RunSummary) => task === 'reinforce' && startedAt !== null;
