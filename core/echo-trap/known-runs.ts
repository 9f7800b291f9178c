import type { RunConfig } from '../run-config/run-config.ts';
import { factsOf } from './facts.ts';
import known from './known-runs.json' with { type: 'json' };
import type { LabeledRun } from './labeled-runs.ts';

/** Recorded runs of one model on the same environments with the same step size (learning rate × epochs). */
export interface KnownRuns {
  model: string;
  environments: string[];
  step: number;
  runs: number;
  collapsed: number;
}

/** Counts runs and collapses per model, environments and step size. */
export function countKnownRuns(runs: readonly LabeledRun[]): KnownRuns[] {
  const counts = new Map<string, KnownRuns>();
  for (const { config, collapsed } of runs) {
    const setting = settingOf(config as RunConfig);
    if (!setting) continue;
    const key = JSON.stringify(setting);
    const counted = counts.get(key) ?? { ...setting, runs: 0, collapsed: 0 };
    counts.set(key, { ...counted, runs: counted.runs + 1, collapsed: counted.collapsed + Number(collapsed !== null) });
  }
  return [...counts.values()].sort(
    (a, b) =>
      a.model.localeCompare(b.model) || a.environments.join().localeCompare(b.environments.join()) || a.step - b.step,
  );
}

/** Returns null for a run without updates by reward, or with an unknown learning rate. */
function settingOf(config: RunConfig): Pick<KnownRuns, 'model' | 'environments' | 'step'> | null {
  const { epochs, learningRate } = factsOf(config);
  if (config.task !== 'reinforce' || !learningRate) return null;
  const environments = config.environments.filter(({ share }) => share > 0).map(({ type }) => type);
  return {
    model: config.start.model,
    environments: environments.sort(),
    step: Number((epochs * learningRate).toPrecision(3)),
  };
}

/** At least so many runs, and this share of them collapsed. */
const minimum = { runs: 2, share: 0.15 };
/** Step sizes up to this factor above a configuration's count as its own. */
const similar = 1.3;

/** Returns the known runs that collapsed at a configuration's step size, or the nearest lower one; null if it is lower than theirs. */
export function knownCollapses(config: RunConfig): KnownRuns | null {
  const setting = settingOf(config);
  if (!setting) return null;
  const distance = ({ step }: KnownRuns) => Math.abs(Math.log(step / setting.step));
  const risky = (known as KnownRuns[]).filter(
    ({ model, environments, step, runs, collapsed }) =>
      model === setting.model &&
      environments.join() === setting.environments.join() &&
      step <= similar * setting.step &&
      runs >= minimum.runs &&
      collapsed >= minimum.share * runs,
  );
  return risky.sort((a, b) => distance(a) - distance(b))[0] ?? null;
}
