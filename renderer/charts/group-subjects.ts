import { count } from '../../core/contract/numbers.ts';
import { shapeOf } from './axes.ts';
import { type Band, GroupSeries } from './group-series.ts';
import type { SeriesSource } from './series-source.ts';
import type { Subject } from './subjects.ts';

export const colorCount = 10;

/** Returns the color of the run or group at an index. */
export const colorAt = (index: number) => `run-${(index % colorCount) + 1}`;

/** Runs with a common color and label. */
export interface RunGroup {
  label: string;
  color: string;
  ids: readonly string[];
}

interface GroupedRun {
  id: string;
  series: SeriesSource;
  config: unknown;
}

/** Returns the mean and band of each group with runs, as lines of charts. */
export function groupSubjects(runs: readonly GroupedRun[], groups: readonly RunGroup[], band: Band): Subject[] {
  return groups.flatMap(({ label, ids, color }) => {
    const members = runs.filter(({ id }) => ids.includes(id));
    if (members.length === 0) return [];
    const series = new GroupSeries(
      members.map((run) => run.series),
      band,
    );
    return {
      id: `group ${label}`,
      label: `${label} (${count(members.length, 'run')})`,
      source: series.mean,
      bounds: series,
      shape: shapeOf(members[0]!.config),
      color,
    };
  });
}
