import type { RunConfig } from '../run-config/run-config.ts';
import { factsOf } from './facts.ts';
import type { LabeledRun } from './labeled-runs.ts';
import recorded from './recorded-runs.json' with { type: 'json' };

/** Recorded runs of one model on the same environments with the same step size (learning rate × epochs). */
export interface RecordedRuns {
  model: string;
  environments: string[];
  step: number;
  runs: number;
  collapsed: number;
}

/** Counts runs and collapses per model, environments and step size. */
export function countRecordedRuns(runs: readonly LabeledRun[]): RecordedRuns[] {
  const counts = new Map<string, RecordedRuns>();
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

/** Returns the setting of a run; null if it was not trained by rewards or its learning rate is unknown. */
function settingOf(config: RunConfig): Pick<RecordedRuns, 'model' | 'environments' | 'step'> | null {
  const { epochs, learningRate } = factsOf(config);
  if (config.task !== 'reinforce' || !learningRate) return null;
  const environments = config.environments.filter(({ share }) => share > 0).map(({ type }) => type);
  return {
    model: config.start.model,
    environments: environments.sort(),
    step: Number((epochs * learningRate).toPrecision(3)),
  };
}

/** Minimum number of runs, and minimum share of them that collapsed. */
const minimum = { runs: 2, share: 0.15 };
/** Step sizes up to this factor above a configuration's are treated as equal to it. */
const similar = 1.3;

/** Returns the recorded runs at the step size nearest to a configuration's, but not above it, at which enough runs collapsed; null without any. */
export function recordedCollapses(config: RunConfig): RecordedRuns | null {
  const setting = settingOf(config);
  if (!setting) return null;
  const distance = ({ step }: RecordedRuns) => Math.abs(Math.log(step / setting.step));
  const risky = (recorded as RecordedRuns[]).filter(
    ({ model, environments, step, runs, collapsed }) =>
      model === setting.model &&
      environments.join() === setting.environments.join() &&
      step <= similar * setting.step &&
      runs >= minimum.runs &&
      collapsed >= minimum.share * runs,
  );
  return risky.sort((a, b) => distance(a) - distance(b))[0] ?? null;
}
