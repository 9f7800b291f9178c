import type { RunStatus } from './runs.ts';

/** Returns whether the run is running or paused. */
export const isLive = (status: RunStatus) => status === 'running' || status === 'paused';

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
