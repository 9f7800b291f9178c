import type { EpisodeSummary } from '../../../core/contract/contract.ts';
import { isScored, resultWord } from '../../components/episode-result.tsx';

export type Filter = 'all' | 'success' | 'failed';
export type SortKey = 'group' | 'reward' | 'tokens' | 'turns' | 'actions';
export const filters: readonly { value: Filter; label: string }[] = [
  { value: 'all', label: 'All' },
  { value: 'success', label: 'Success' },
  { value: 'failed', label: 'Failed' },
];

export interface Sort {
  key: SortKey;
  descending: boolean;
}

const passes: Record<Filter, (episode: EpisodeSummary) => boolean> = {
  all: () => true,
  success: (episode) => resultWord(episode) === 'success',
  failed: (episode) => resultWord(episode) === 'failed',
};

/** Unusual properties of an episode. */
export type Flag = 'invalid' | 'cut' | 'void';
export const flags: readonly { value: Flag; label: string; title: string }[] = [
  { value: 'invalid', label: 'Invalid format', title: 'A response had an invalid format' },
  { value: 'cut', label: 'Cut short', title: 'Reached the limit of turns, actions or context' },
  {
    value: 'void',
    label: 'Void',
    title: 'The environment or the reward program failed; neither trained on nor scored',
  },
];
const hasFlag: Record<Flag, (episode: EpisodeSummary) => boolean> = {
  invalid: (episode) => isScored(episode) && !episode.format_valid,
  cut: (episode) => isScored(episode) && episode.ended !== 'done',
  void: (episode) => !isScored(episode),
};

/** Inclusive bounds; null means unbounded. */
export interface Bounds {
  least: number | null;
  most: number | null;
}

/** The filters and the order of the list. */
export interface Listing {
  filter: Filter;
  /** True: only episodes that the update trained on. */
  trained: boolean;
  sort: Sort;
  /** Null: all. */
  environment: string | null;
  /** Index of a group, or of an evaluation level; null: all. */
  group: number | null;
  reward: Bounds;
  tokens: Bounds;
  /** Episodes must have all of them. */
  flags: readonly Flag[];
}

const unbounded: Bounds = { least: null, most: null };
export const firstListing: Listing = {
  filter: 'all',
  trained: false,
  sort: { key: 'group', descending: false },
  environment: null,
  group: null,
  reward: unbounded,
  tokens: unbounded,
  flags: [],
};

/** Returns the labels of the episodes' environments, in order of appearance. */
export const environmentsOf = (episodes: readonly EpisodeSummary[]): string[] => [
  ...new Set(episodes.map(({ environment }) => environment)),
];

/** Returns the flags that any episode has, or that are selected. */
export const flagsOf = (episodes: readonly EpisodeSummary[], { flags: selected }: Listing) =>
  flags.filter(({ value }) => selected.includes(value) || episodes.some(hasFlag[value]));

/** Returns the episodes to show; ties stay in order of group and member. */
export function listed(episodes: readonly EpisodeSummary[], listing: Listing): EpisodeSummary[] {
  const { filter, trained, environment, group, reward, tokens, flags } = listing;
  const { key, descending } = listing.sort;
  const sign = descending ? -1 : 1;
  return episodes
    .filter(
      (episode) =>
        passes[filter](episode) &&
        (!trained || episode.kept) &&
        (environment ?? episode.environment) === episode.environment &&
        (group ?? episode.group) === episode.group &&
        withinReward(reward, episode) &&
        within(tokens, episode.tokens) &&
        flags.every((flag) => hasFlag[flag](episode)),
    )
    .sort((a, b) => sign * (a[key] - b[key]) || a.group - b.group || a.member - b.member);
}

const within = ({ least, most }: Bounds, value: number) => value >= (least ?? value) && value <= (most ?? value);

/** A void episode has no reward, so bounds exclude it. */
const withinReward = (bounds: Bounds, episode: EpisodeSummary) =>
  isScored(episode) ? within(bounds, episode.reward) : bounds.least === null && bounds.most === null;

/** An active filter with its text, and the listing without it. */
interface ActiveFilter {
  text: string;
  without: Listing;
}

/** Returns the active filters besides result and environment. `groupWord`: "Group" or "Level". */
export function activeFilters(listing: Listing, groupWord: string): ActiveFilter[] {
  const active: ActiveFilter[] = [];
  if (listing.group !== null)
    active.push({ text: `${groupWord} ${listing.group + 1}`, without: { ...listing, group: null } });
  for (const key of ['reward', 'tokens'] as const) {
    const name = key === 'reward' ? 'Reward' : 'Tokens';
    const { least, most } = listing[key];
    if (least !== null)
      active.push({ text: `${name} ≥ ${least}`, without: { ...listing, [key]: { least: null, most } } });
    if (most !== null)
      active.push({ text: `${name} ≤ ${most}`, without: { ...listing, [key]: { least, most: null } } });
  }
  for (const { value, label } of flags.filter((flag) => listing.flags.includes(flag.value)))
    active.push({
      text: label,
      without: { ...listing, flags: listing.flags.filter((flag) => flag !== value) },
    });
  return active;
}

/** Returns the episode with the same group and member in another file. Evaluation files have the same levels. */
export function counterpart(
  episodes: readonly EpisodeSummary[],
  position: { group: number; member: number } | null,
): EpisodeSummary | undefined {
  return episodes.find(({ group, member }) => group === position?.group && member === position.member) ?? episodes[0];
}
