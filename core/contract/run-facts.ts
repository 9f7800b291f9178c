import type { RunStatus } from './runs.ts';

/** Whether a trainer is at work on it, or waits to go on. */
export const isLive = (status: RunStatus) => status === 'running' || status === 'paused';

/** Whether two runs may be given the same device: `auto` can be any, `cuda` any GPU. */
export function mayShareDevice(a: string, b: string): boolean {
  if (a === b || a === 'auto' || b === 'auto') return true;
  return (a === 'cuda' && b.startsWith('cuda')) || (b === 'cuda' && a.startsWith('cuda'));
}

const phaseWords: Record<string, string> = {
  load: 'Loading the model',
  evaluate: 'Evaluating',
  rollout: 'Playing episodes',
  filter: 'Filtering groups',
  diagnose: 'Measuring what thoughts say',
  update: 'Updating the policy',
  checkpoint: 'Writing a checkpoint',
};

/** What a trainer does in a phase; one that this version doesn't know is called by its name. */
export const phaseTitle = (name: string) => phaseWords[name] ?? name;

/** The label of the environment whose success on fixed levels a metric is; undefined for any other metric. */
export const evaluatedLabel = (name: string) => /^evaluation\/([^/]+)\/success_rate$/.exec(name)?.[1];

/** Mean over environments of the success on their fixed levels; undefined where none was evaluated. */
export function evaluatedSuccess(metrics: Readonly<Record<string, unknown>>): number | undefined {
  let [sum, count] = [0, 0];
  for (const [name, value] of Object.entries(metrics)) {
    if (!evaluatedLabel(name) || typeof value !== 'number' || !Number.isFinite(value)) continue;
    sum += value;
    count++;
  }
  return count > 0 ? sum / count : undefined;
}
