import type { RunSummary } from '../../../core/contract/contract.ts';
import { colorAt, colorCount, type RunGroup } from '../../charts/group-subjects.ts';
import type { LineMark } from '../../run-table/rows.tsx';
import type { SettingsByRun } from '../../run-table/settings.ts';
import { groupRuns } from '../../run-table/use-table.ts';

const dashes = [undefined, 'dashed', 'dotted'] as const;

/** How the compared runs are drawn. */
export interface Lines {
  marks: ReadonlyMap<string, LineMark>;
  /** If runs are grouped, each group is one line. If they are colored by a setting, the groups are the entries of the legend. Null if each run has its own color. */
  groups: readonly RunGroup[] | null;
}

/** Gives each run a line of its own or, with a grouping `by`, all runs of a group the same color. */
export function linesOf(
  runs: readonly RunSummary[],
  slots: ReadonlyMap<string, number>,
  by: string,
  settings: SettingsByRun | null,
): Lines {
  if (by === '') {
    const markOf = (slot: number): LineMark => ({
      color: colorAt(slot),
      dash: dashes[Math.floor(slot / colorCount) % dashes.length],
    });
    return { marks: new Map(runs.map(({ id }) => [id, markOf(slots.get(id) ?? 0)])), groups: null };
  }
  const groups = groupRuns(by, runs, settings).map(({ label, runs: members }, index) => ({
    label,
    color: colorAt(index),
    ids: members.map(({ id }) => id),
  }));
  return { marks: new Map(groups.flatMap(({ color, ids }) => ids.map((id) => [id, { color }]))), groups };
}

/** Gives each new run the first free slot. The others keep theirs, so that ticking a run changes no other line. */
export function assignSlots(
  slots: ReadonlyMap<string, number>,
  runIds: readonly string[],
): ReadonlyMap<string, number> {
  if (slots.size === runIds.length && runIds.every((id) => slots.has(id))) return slots;
  const next = new Map(runIds.flatMap((id): [string, number][] => (slots.has(id) ? [[id, slots.get(id)!]] : [])));
  const taken = new Set(next.values());
  let free = 0;
  for (const id of runIds) {
    if (next.has(id)) continue;
    while (taken.has(free)) free++;
    taken.add(free);
    next.set(id, free);
  }
  return next;
}
