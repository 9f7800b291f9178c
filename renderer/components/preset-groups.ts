import type { PresetCard } from '../../core/contract/contract.ts';

/** The presets of one task, at least one: baselines last. */
export type TaskPresets = [PresetCard, ...PresetCard[]];

/** Made to collapse, so that one sees the Echo Trap. */
export const isTrap = ({ id }: Pick<PresetCard, 'id'>): boolean => id.endsWith('-trap');

/** The presets by task, in the order of their first one. */
export function groupByTask(cards: readonly PresetCard[]): TaskPresets[] {
  return Array.from(
    Map.groupBy(cards, ({ task }) => task).values(),
    (ofTask) => ofTask.toSorted((a, b) => Number(a.baseline) - Number(b.baseline)) as TaskPresets,
  );
}

/** The preset that the task's short name means. */
export const defaultOf = (presets: TaskPresets): PresetCard =>
  presets.find(({ alias }) => alias !== null) ?? presets[0];

/** The preset of a task that has the algorithm chosen for the page; else its default. */
export const presetOf = (presets: TaskPresets, algorithm: string | null): PresetCard =>
  presets.find((preset) => preset.algorithm === algorithm) ?? defaultOf(presets);

/** What the page can choose from: the algorithms of its first task, whose default is the page's. */
export const algorithmsOf = (tasks: readonly TaskPresets[]): PresetCard[] =>
  tasks[0] ? [...tasks[0]].map((preset) => preset) : [];
