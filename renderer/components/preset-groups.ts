import type { PresetCard } from '../../core/contract/contract.ts';

/** The presets of one task, baselines last. */
export type TaskPresets = [PresetCard, ...PresetCard[]];

/** Returns whether the preset collapses on purpose, to show the Echo Trap. */
export const isTrap = ({ id }: Pick<PresetCard, 'id'>): boolean => id.endsWith('-trap');

/** Groups presets by task, in order of appearance. */
export function groupByTask(cards: readonly PresetCard[]): TaskPresets[] {
  return Array.from(
    Map.groupBy(cards, ({ family }) => family).values(),
    (ofTask) => ofTask.toSorted((a, b) => Number(a.baseline) - Number(b.baseline)) as TaskPresets,
  );
}

/** Returns the task's preset with the given algorithm, otherwise the one with the short name. */
export const presetOf = (presets: TaskPresets, algorithm: string | null): PresetCard =>
  presets.find((preset) => preset.algorithm === algorithm) ?? presets.find(({ alias }) => alias !== null) ?? presets[0];
