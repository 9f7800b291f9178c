import type { EpisodeSummary } from '../../../core/contract/contract.ts';

export type Filter = 'all' | 'success' | 'failed' | 'kept';
export type SortKey = 'group' | 'reward' | 'tokens' | 'turns' | 'actions';
export const filters: readonly { value: Filter; label: string }[] = [
  { value: 'all', label: 'All' },
  { value: 'success', label: 'Success' },
  { value: 'failed', label: 'Failed' },
  { value: 'kept', label: 'Trained on' },
];

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

/** What is listed, and in which order. */
export interface Listing {
  filter: Filter;
  sort: Sort;
  /** Null: all. */
  environment: string | null;
}

export const firstListing: Listing = {
  filter: 'all',
  sort: { key: 'group', descending: false },
  environment: null,
};

/** Labels of the environments that episodes are of, in order of appearance. */
export const environmentsOf = (episodes: readonly EpisodeSummary[]): string[] => [
  ...new Set(episodes.map(({ environment }) => environment)),
];

/** What the table shows, of one environment or of all (null); equals stay in the order of groups and members. */
export function listed(
  episodes: readonly EpisodeSummary[],
  filter: Filter,
  { key, descending }: Sort,
  environment: string | null = null,
): EpisodeSummary[] {
  const sign = descending ? -1 : 1;
  return episodes
    .filter(
      (episode) => passes[filter](episode) && (environment ?? episode.environment) === episode.environment,
    )
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
