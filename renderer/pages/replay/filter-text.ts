import { percent } from '../../components/format.ts';
import type { Group } from '../../player/groups.ts';

/** Settings of run.json. */
export interface FilterSettings {
  strategy: string;
  keep: number;
  /** What groups are ranked by. */
  score: string;
  order: string;
}

/** Reads the filter from a configuration. Defaults to no filter. */
export function filterOf(config: unknown): FilterSettings {
  const filter = (config as { filter?: Partial<FilterSettings> } | null)?.filter;
  return { strategy: 'none', keep: 1, score: 'reward_std', order: 'largest', ...filter };
}

const rankings: Readonly<Record<string, string>> = {
  reward_std: 'reward std',
  entropy: 'entropy',
  length: 'response tokens per episode',
};

/** Returns how many groups a fraction keeps, at least one, as the trainer computes it. */
const quotaOf = (keep: number, groups: number) => Math.max(1, Math.floor(keep * groups + 1e-9));

/** Describes the filter in one sentence. */
export function describeFilter({ strategy, keep, score, order }: FilterSettings, groups: readonly Group[]): string {
  const kept = groups.filter((group) => group.kept).length;
  if (strategy === 'none') return 'No filter. The update trains on every group.';
  const ranking = rankings[score] ?? score;
  if (score !== 'reward_std' || order !== 'largest' || !['fraction', 'top_p'].includes(strategy))
    return `The filter ranks groups by ${ranking}, ${order} first, and trains on ${kept} of ${groups.length}.`;
  const severalEnvironments = new Set(groups.map(({ environment }) => environment)).size > 1;
  const scope = severalEnvironments ? ' per environment' : '';
  if (strategy === 'fraction')
    return `StarPO-S trains on the ${percent(keep, 0)} of groups${scope} with the highest reward std: ${kept} of ${groups.length}.`;
  return `Top-p filter: trains on the groups${scope} with the highest reward std that add up to ${percent(keep, 0)} of the summed reward std: ${kept} of ${groups.length}.`;
}

/** Sorts the groups of each environment by reward std, largest first, with the reason why each was kept or dropped. Ranks are given only if the filter ranks in the same way. */
export function ranked(
  groups: readonly Group[],
  { strategy, keep, score, order }: FilterSettings,
): { group: Group; reason: string }[] {
  const byEnvironment = Map.groupBy(groups, ({ environment }) => environment);
  return [...byEnvironment.values()].flatMap((own) => {
    const quota = quotaOf(keep, own.length);
    const byStd = score === 'reward_std' && order === 'largest';
    return own
      .toSorted((a, b) => (b.rewardStd ?? 0) - (a.rewardStd ?? 0) || a.group - b.group)
      .map((group, at) => ({ group, reason: reasonOf(group, at + 1, own.length, byStd ? strategy : 'none', quota) }));
  });
}

function reasonOf(
  { zeroVariance, kept, rewardStd, members, voids }: Group,
  rank: number,
  groups: number,
  strategy: string,
  quota: number,
): string {
  if (voids === members.length) return 'void: no episode could be played and scored';
  if (members.length > 1 && members.length - voids === 1)
    return 'only one episode is not void, so there is nothing to compare';
  if (strategy === 'none' || rewardStd === null) return zeroVariance ? 'zero variance' : '';
  if (zeroVariance && kept) return 'zero variance; kept because too few groups have any';
  if (zeroVariance) return 'zero variance';
  if (strategy === 'fraction') return `rank ${rank} of ${groups}, top ${quota} kept`;
  return `rank ${rank} of ${groups}`;
}
