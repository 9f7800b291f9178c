import type { RunLabel, StudyCollapse, StudyPoint } from '../contract/contract.ts';
import { wilson } from '../echo-trap/score.ts';
import type { HistoryReader } from '../history/reader.ts';
import type { RunConfig } from '../run-config/schema.ts';
import { applySettings } from '../run-config/settings.ts';

/** What became of complete runs, by the collapse rule. A complete run changes no more, so each is read once, in the thread that reads what may take long. */
export class RunLabels {
  private readonly reader: HistoryReader;
  private readonly known = new Map<string, { iteration: number; label: RunLabel | null }>();

  constructor(reader: HistoryReader) {
    this.reader = reader;
  }

  /** Of a run that was read complete at an iteration; null where it wasn't, is too short, or has no success. */
  of(runId: string, iteration: number): RunLabel | null {
    const known = this.known.get(runId);
    return known?.iteration === iteration ? known.label : null;
  }

  /** Reads a run of a study that is complete at an iteration, unless it is known. */
  async read(
    runId: string,
    iteration: number,
    config: Record<string, unknown>,
    { set }: StudyPoint,
  ): Promise<void> {
    if (this.known.get(runId)?.iteration === iteration) return;
    const { groups = 8, group_size: size } = rolloutOf(config, set);
    const label = await this.reader.call('label', { runId, groups, groupSize: size });
    this.known.set(runId, { iteration, label });
  }

  /** The run was extended, recreated or deleted. */
  forget(runId: string): void {
    this.known.delete(runId);
  }
}

/** Reads only what the configuration has, since any program may have written the file. */
function rolloutOf(config: Record<string, unknown>, set: StudyPoint['set']): Partial<RunConfig['rollout']> {
  const rollout = (of: object) => (of as Partial<RunConfig>).rollout ?? {};
  try {
    return rollout(applySettings(config, set));
  } catch {
    return rollout(config);
  }
}

/** Returns null without labels. */
export function collapseOf(labels: readonly RunLabel[]): StudyCollapse | null {
  const n = labels.length;
  if (n === 0) return null;
  const onsets = labels.flatMap(({ collapsed }) => collapsed ?? []).sort((a, b) => a - b);
  const kinds: StudyCollapse['kinds'] = {};
  for (const { kind } of labels) kinds[kind] = (kinds[kind] ?? 0) + 1;
  return { n, collapsed: onsets.length, ...wilson(onsets.length, n), onsets, kinds };
}
