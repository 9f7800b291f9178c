import type { Phase, RunStatus, RunSummary } from '../../core/contract/contract.ts';
import { evaluatedSuccess, isLive, mayShareDevice, phaseTitle } from '../../core/contract/run-facts.ts';

export { isLive };

/** Newest success rates, in [0, 1]; of several evaluation sets the mean. */
export function successOf({ latest }: RunSummary): {
  evaluation: number | undefined;
  rollout: number | undefined;
} {
  return { evaluation: evaluatedSuccess(latest), rollout: latest['rollout/success_rate'] };
}

/** What is counted in a phase. */
const phaseUnits: Record<string, string> = {
  evaluate: 'episodes',
  rollout: 'episodes',
  filter: 'groups',
  update: 'steps',
};

/** `Playing episodes, 34 of 128`; a phase that this version doesn't know is called by its name. */
export function describePhase({ name, done, total }: Phase): string {
  const unit = phaseUnits[name] ?? '';
  return total > 1 ? `${phaseTitle(name)}, ${done} of ${total}${unit && ` ${unit}`}` : phaseTitle(name);
}

/** A trainer can be started on it: for the first time, or from its last checkpoint. */
export const isStartable = (status: RunStatus) =>
  ['created', 'queued', 'stopped', 'interrupted', 'failed'].includes(status);

/** Share done in [0, 1], the present iteration's phase not counted. */
export function shareDone({ iteration, iterations }: Pick<RunSummary, 'iteration' | 'iterations'>): number {
  return iterations > 0 ? iteration / iterations : 0;
}

/** Runs that another one, which asks for this device, would have to share it with, or to wait for. */
export const runsOnDevice = (runs: readonly RunSummary[] | null, device: string) =>
  runs?.filter((run) => {
    if (isLive(run.status)) return mayShareDevice(device, run.machine?.device ?? run.device);
    return run.status === 'queued' && mayShareDevice(device, run.device);
  }) ?? [];

export const isDeviceTaken = (runs: readonly RunSummary[] | null, device: string) =>
  runsOnDevice(runs, device).length > 0;

/** Runs that wait, next first. */
export function queueOf(runs: readonly RunSummary[] | null): RunSummary[] {
  const waiting = runs?.filter(({ queuePosition }) => queuePosition !== null) ?? [];
  return waiting.sort((a, b) => a.queuePosition! - b.queuePosition!);
}

/** A run's name and what tells it from others of the same name: the random end of its id. */
export function nameParts({ id, name }: Pick<RunSummary, 'id' | 'name'>): { stem: string; hash: string } {
  const hash = /-([0-9a-f]{4})$/.exec(id)?.[1] ?? '';
  return { stem: hash && name.endsWith(` ${hash}`) ? name.slice(0, -hash.length - 1) : name, hash };
}

/** A name's parts where there is little room: of a study's run its point and its seed, unless a person has called it otherwise, with the study to be said beside them. */
export function shortParts({ study, ...run }: Pick<RunSummary, 'id' | 'name' | 'study'>): {
  stem: string;
  hash: string;
  study: string | null;
} {
  const ofStudy = study && run.name === `${study.name}: ${study.point} s${study.seed}`;
  if (!ofStudy) return { ...nameParts(run), study: null };
  return { stem: study.point, hash: `s${study.seed}`, study: study.name };
}

/** A name that fits where there is little room, whole words of it. */
export function shortened(name: string, letters: number): string {
  if (name.length <= letters) return name;
  const cut = name.slice(0, letters);
  const end = cut.lastIndexOf(' ');
  return `${cut.slice(0, end > letters / 2 ? end : letters).replace(/[ ,.:;]+$/, '')}…`;
}

/** Seconds that a run has been trained for, or where that isn't known from its first start to its end or until now; null before it. */
export function tookSeconds({ startedAt, endedAt, takenSeconds }: RunSummary, now: number): number | null {
  if (startedAt === null) return null;
  return takenSeconds ?? ((endedAt ?? now) - startedAt) / 1000;
}

/** `cpu, 2 threads` or a GPU's name; as configured where no trainer has begun. */
export function machineWords({ machine }: RunSummary): string {
  if (!machine) return '';
  const { device, name, threads } = machine;
  if (device === 'cpu') return `CPU, ${threads} ${threads === 1 ? 'thread' : 'threads'}`;
  return name ?? device;
}
