import type { PresetCard } from '../../../core/contract/contract.ts';

type Environment = PresetCard['environment'];

/** The headings of the Start page. */
export const environmentHeadings: Record<Environment, { title: string; tagline: string }> = {
  'frozen-lake': { title: 'FrozenLake', tagline: 'Cross the ice to the star without falling into a hole.' },
  sokoban: { title: 'Sokoban', tagline: 'Push every box onto its target. There is no pulling back.' },
  bandit: { title: 'Bandit', tagline: 'Choose a safe arm or a risky one by name alone.' },
  mixed: { title: 'Several environments', tagline: 'One policy learns them together.' },
};

/** The presets of one task, at least one: baselines last. */
export type TaskPresets = [PresetCard, ...PresetCard[]];

export interface PresetGroup {
  environment: Environment;
  tasks: TaskPresets[];
}

/** The presets by environment and task, both in the order of their first preset. */
export function groupPresets(cards: readonly PresetCard[]): PresetGroup[] {
  return Array.from(
    Map.groupBy(cards, ({ environment }) => environment),
    ([environment, ofEnvironment]) => ({
      environment,
      tasks: Array.from(
        Map.groupBy(ofEnvironment, ({ task }) => task).values(),
        (ofTask) => ofTask.toSorted((a, b) => Number(a.baseline) - Number(b.baseline)) as TaskPresets,
      ),
    }),
  );
}

/** The preset that the task's short name means. */
export const defaultOf = (presets: TaskPresets): PresetCard =>
  presets.find(({ alias }) => alias !== null) ?? presets[0];
