import type { PresetCard } from '../../../core/contract/contract.ts';
import { environmentOf } from '../../environments/registry.ts';

const several = { title: 'Several environments', tagline: 'One policy learns them together.' };

/** What the Start page puts above a group. */
export const headingOf = (environment: string | null): { title: string; tagline: string } =>
  environment === null ? several : environmentOf(environment);

/** The presets of one task, at least one: baselines last. */
export type TaskPresets = [PresetCard, ...PresetCard[]];

export interface PresetGroup {
  /** Its type; null: several are learned together. */
  environment: string | null;
  tasks: TaskPresets[];
}

/** Made to collapse, so that one sees the Echo Trap. */
export const isTrap = ({ id }: Pick<PresetCard, 'id'>): boolean => id.endsWith('-trap');

/** The presets by environment and task, both in the order of their first preset. */
export function groupPresets(cards: readonly PresetCard[]): PresetGroup[] {
  return Array.from(
    Map.groupBy(cards, ({ environments: [first, ...others] }) =>
      first && others.length === 0 ? first.type : null,
    ),
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
