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

/** What an episode may have that most don't. */
export type Flag = 'invalid' | 'cut';
export const flags: readonly { value: Flag; label: string; title: string }[] = [
  { value: 'invalid', label: 'Invalid reply', title: 'A reply had an invalid format' },
  { value: 'cut', label: 'Cut short', title: 'Out of turns, moves or context before it was done' },
];
const has: Record<Flag, (episode: EpisodeSummary) => boolean> = {
  invalid: ({ format_valid }) => !format_valid,
  cut: ({ ended }) => ended !== 'done',
};

/** Both ends are within; null: no end. */
export interface Bounds {
  least: number | null;
  most: number | null;
}

/** What is listed, and in which order. */
export interface Listing {
  filter: Filter;
  sort: Sort;
  /** Null: all. */
  environment: string | null;
  /** A group, or a level of an evaluation, from 0 on; null: all. */
  group: number | null;
  reward: Bounds;
  tokens: Bounds;
  /** An episode has each of them. */
  flags: readonly Flag[];
}

const anything: Bounds = { least: null, most: null };
export const firstListing: Listing = {
  filter: 'all',
  sort: { key: 'group', descending: false },
  environment: null,
  group: null,
  reward: anything,
  tokens: anything,
  flags: [],
};

/** Labels of the environments that episodes are of, in order of appearance. */
export const environmentsOf = (episodes: readonly EpisodeSummary[]): string[] => [
  ...new Set(episodes.map(({ environment }) => environment)),
];

/** Flags that an episode has, or that are asked for. */
export const flagsOf = (episodes: readonly EpisodeSummary[], { flags: asked }: Listing) =>
  flags.filter(({ value }) => asked.includes(value) || episodes.some(has[value]));

/** What the table shows; equals stay in the order of groups and members. */
export function listed(episodes: readonly EpisodeSummary[], listing: Listing): EpisodeSummary[] {
  const { filter, environment, group, reward, tokens, flags } = listing;
  const { key, descending } = listing.sort;
  const sign = descending ? -1 : 1;
  return episodes
    .filter(
      (episode) =>
        passes[filter](episode) &&
        (environment ?? episode.environment) === episode.environment &&
        (group ?? episode.group) === episode.group &&
        within(reward, episode.reward) &&
        within(tokens, episode.tokens) &&
        flags.every((flag) => has[flag](episode)),
    )
    .sort((a, b) => sign * (a[key] - b[key]) || a.group - b.group || a.member - b.member);
}

const within = ({ least, most }: Bounds, value: number) =>
  value >= (least ?? value) && value <= (most ?? value);

/** A filter that is on, in words, and the listing without it. */
export interface FilterOn {
  words: string;
  without: Listing;
}

/** Those beside result and environment. `groupWord`: what the episodes' groups are called. */
export function filtersOn(listing: Listing, groupWord: string): FilterOn[] {
  const on: FilterOn[] = [];
  if (listing.group !== null)
    on.push({ words: `${groupWord} ${listing.group + 1}`, without: { ...listing, group: null } });
  for (const key of ['reward', 'tokens'] as const) {
    const name = key === 'reward' ? 'Reward' : 'Tokens';
    const { least, most } = listing[key];
    if (least !== null)
      on.push({ words: `${name} at least ${least}`, without: { ...listing, [key]: { least: null, most } } });
    if (most !== null)
      on.push({ words: `${name} at most ${most}`, without: { ...listing, [key]: { least, most: null } } });
  }
  for (const { value, label } of flags.filter((flag) => listing.flags.includes(flag.value)))
    on.push({ words: label, without: { ...listing, flags: listing.flags.filter((flag) => flag !== value) } });
  return on;
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
