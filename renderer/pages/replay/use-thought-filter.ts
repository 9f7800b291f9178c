import { useMemo } from 'react';
import type { EpisodeSummary } from '../../../core/contract/contract.ts';
import type { FileName } from '../../episodes/episode-files.ts';
import { matches } from '../../episodes/thought-tree.ts';
import { useThoughts } from '../../episodes/use-thoughts.ts';

/** Words that the first reasoning begins with, or equals if `whole`. */
export interface ThoughtFilter {
  text: string;
  whole: boolean;
}

/**
 * Returns the episodes that match the filter; null while loading. Evaluations have no reasoning counts, so
 * all are returned.
 */
export function useThoughtFilter(
  runId: string,
  file: FileName | null,
  episodes: EpisodeSummary[] | null,
  filter: ThoughtFilter | null,
): EpisodeSummary[] | null {
  const asked = filter && file?.split === 'train' && file.evaluation === null ? file.iteration : null;
  const { thoughts, problem } = useThoughts(runId, asked);
  return useMemo(() => {
    if (!filter || asked === null || problem) return episodes;
    if (thoughts?.iteration !== asked) return null;
    const matching = thoughts.thoughts.filter(({ text }) => matches(text, filter.text, filter.whole));
    const ids = new Set(matching.flatMap((each) => each.episodes));
    return episodes?.filter(({ id }) => ids.has(id)) ?? null;
  }, [episodes, filter, asked, thoughts, problem]);
}
