import type { RunLabel, StudyCollapse, StudyPoint } from '../contract/contract.ts';
import { wilson } from '../echo-trap/score.ts';
import type { HistoryReader } from '../history/reader.ts';
import type { RunConfig } from '../run-config/schema.ts';
import { applySettings } from '../run-config/settings.ts';

/** Outcomes of finished runs by the collapse rule. A finished run does not change unless it is resumed, so each is read once, by the history's reader thread. */
export class RunLabels {
  private readonly reader: HistoryReader;
  private readonly cache = new Map<string, { iteration: number; label: RunLabel | null }>();

  constructor(reader: HistoryReader) {
    this.reader = reader;
  }

  /** Returns the label of a run that was read at this iteration; null if it was not read, is too short, or has no success rate. */
  of(runId: string, iteration: number): RunLabel | null {
    const cached = this.cache.get(runId);
    return cached?.iteration === iteration ? cached.label : null;
  }

  /** Reads the label of a run that finished at an iteration, unless it is cached. */
  async read(runId: string, iteration: number, config: Record<string, unknown>, { set }: StudyPoint): Promise<void> {
    if (this.cache.get(runId)?.iteration === iteration) return;
    const { groups = 8, group_size: size } = rolloutOf(config, set);
    const label = await this.reader.call('label', { runId, groups, groupSize: size });
    this.cache.set(runId, { iteration, label });
  }

  /** Call when a run was resumed, recreated or deleted. */
  forget(runId: string): void {
    this.cache.delete(runId);
  }
}

/** Returns the rollout settings of one of a sweep's settings. The configuration may be incomplete, because any program may have written the file. */
function rolloutOf(config: Record<string, unknown>, set: StudyPoint['set']): Partial<RunConfig['rollout']> {
  const rollout = (settings: object) => (settings as Partial<RunConfig>).rollout ?? {};
  try {
    return rollout(applySettings(config, set));
  } catch {
    return rollout(config);
  }
}

/** Summarizes the labels of a setting's runs. Returns null without labels. */
export function collapseOf(labels: readonly RunLabel[]): StudyCollapse | null {
  const n = labels.length;
  if (n === 0) return null;
  const onsets = labels.flatMap(({ collapsed }) => collapsed ?? []).sort((a, b) => a - b);
  const kinds: StudyCollapse['kinds'] = {};
  for (const { kind } of labels) kinds[kind] = (kinds[kind] ?? 0) + 1;
  return { n, collapsed: onsets.length, ...wilson(onsets.length, n), onsets, kinds };
}
