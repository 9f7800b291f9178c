import { percent } from '../../components/format.ts';
import type { Group } from '../../player/groups.ts';

/** As run.json has them. */
export interface FilterSettings {
  strategy: string;
  keep: number;
}

/** Of a run's configuration; no filter where it can't be read. */
export function filterOf(config: unknown): FilterSettings {
  const { strategy = 'none', keep = 1 } =
    (config as { filter?: Partial<FilterSettings> } | null)?.filter ?? {};
  return { strategy, keep };
}

/** How many of an environment's groups a fraction keeps, as the trainer counts them: at least one. */
const quota = (keep: number, groups: number) => Math.max(1, Math.floor(keep * groups + 1e-9));

/** What the filter does, in a sentence. */
export function filterWords({ strategy, keep }: FilterSettings, groups: readonly Group[]): string {
  const kept = groups.filter((group) => group.kept).length;
  if (strategy === 'fraction') {
    const many = new Set(groups.map(({ environment }) => environment)).size > 1;
    const each = many ? ` of each environment` : '';
    return `StarPO-S trains on the ${percent(keep, 0)} of groups${each} whose rewards differ most: here ${kept} of ${groups.length}.`;
  }
  if (strategy === 'top_p')
    return `The filter trains on the groups whose rewards differ most, until they hold ${percent(keep, 0)} of all spread: here ${kept} of ${groups.length}.`;
  return 'No filter: the update trains on every group.';
}

/** By environment, the largest spread first as the filter ranks them, each with why it is trained on or not. */
export function ranked(
  groups: readonly Group[],
  { strategy, keep }: FilterSettings,
): { group: Group; reason: string }[] {
  const byEnvironment = Map.groupBy(groups, ({ environment }) => environment);
  return [...byEnvironment.values()].flatMap((own) => {
    const wanted = quota(keep, own.length);
    return own
      .toSorted((a, b) => (b.spread ?? 0) - (a.spread ?? 0) || a.group - b.group)
      .map((group, at) => ({ group, reason: reasonOf(group, at + 1, own.length, strategy, wanted) }));
  });
}

function reasonOf(
  { same, kept, spread }: Group,
  rank: number,
  groups: number,
  strategy: string,
  wanted: number,
): string {
  if (strategy === 'none' || spread === null) return same ? 'no spread: nothing to learn from' : '';
  if (same && kept) return 'all attempts ended alike; kept because too few groups differed';
  if (same) return 'no spread: nothing to learn from';
  if (strategy === 'fraction') return `rank ${rank} of ${groups}, ${wanted} are kept`;
  return `rank ${rank} of ${groups}`;
}
