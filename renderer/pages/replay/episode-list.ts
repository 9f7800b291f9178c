import type { EpisodeSummary, RolloutFile } from '../../../core/api/contract.ts';

export type Filter = 'all' | 'success' | 'failed' | 'kept';
export type SortKey = 'group' | 'reward' | 'tokens' | 'turns' | 'actions';
/** What names a rollout file within its run. */
export type FileName = Pick<RolloutFile, 'iteration' | 'split'>;
export interface Sort {
  key: SortKey;
  descending: boolean;
}

const passes: Record<Filter, (episode: EpisodeSummary) => boolean> = {
  all: () => true,
  success: ({ success }) => success,
  failed: ({ success }) => !success,
  kept: ({ kept }) => kept,
};

/** What the table shows; equals stay in the order of groups and members. */
export function listed(
  episodes: readonly EpisodeSummary[],
  filter: Filter,
  { key, descending }: Sort,
): EpisodeSummary[] {
  const sign = descending ? -1 : 1;
  return episodes
    .filter(passes[filter])
    .sort((a, b) => sign * (a[key] - b[key]) || a.group - b.group || a.member - b.member);
}

/** The same place in another file: an evaluation set has the same level there in every iteration. */
export function counterpart(
  episodes: readonly EpisodeSummary[],
  place: { group: number; member: number } | null,
): EpisodeSummary | undefined {
  return (
    episodes.find(({ group, member }) => group === place?.group && member === place.member) ?? episodes[0]
  );
}

/** `000012-train-0037` says which file it is in; null where it doesn't. */
export function fileOf(episodeId: string | null): FileName | null {
  const match = /^(\d+)-(.+)-\d+$/.exec(episodeId ?? '');
  return match ? { iteration: Number(match[1]), split: match[2]! } : null;
}
