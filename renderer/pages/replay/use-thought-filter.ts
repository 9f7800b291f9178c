import { useMemo } from 'react';
import type { EpisodeSummary } from '../../../core/contract/contract.ts';
import type { FileName } from '../../episodes/episode-files.ts';
import { matches } from '../../episodes/thought-tree.ts';
import { useThoughts } from '../../episodes/use-thoughts.ts';

/** Beginning of the first reasoning, or all of it if `whole`. */
export interface ThoughtFilter {
  text: string;
  whole: boolean;
}

/**
 * Returns the episodes that match the filter; null while loading. Returns all episodes of evaluations, whose
 * reasoning isn't counted.
 */
export function useThoughtFilter(
  runId: string,
  file: FileName | null,
  episodes: EpisodeSummary[] | null,
  filter: ThoughtFilter | null,
): EpisodeSummary[] | null {
  const iteration = filter && file?.split === 'train' && file.evaluation === null ? file.iteration : null;
  const { thoughts, problem } = useThoughts(runId, iteration);
  return useMemo(() => {
    if (!filter || iteration === null || problem) return episodes;
    if (thoughts?.iteration !== iteration) return null;
    const matching = thoughts.thoughts.filter(({ text }) => matches(text, filter.text, filter.whole));
    const ids = new Set(matching.flatMap((each) => each.episodes));
    return episodes?.filter(({ id }) => ids.has(id)) ?? null;
  }, [episodes, filter, iteration, thoughts, problem]);
}
