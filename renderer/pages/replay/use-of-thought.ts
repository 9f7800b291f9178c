import { useMemo } from 'react';
import type { EpisodeSummary } from '../../../core/contract/contract.ts';
import type { FileName } from '../../episodes/episode-files.ts';
import { matches } from '../../episodes/thought-tree.ts';
import { useThoughts } from '../../episodes/use-thoughts.ts';

/** Words that a first thought begins with, or is made of alone. */
export interface ThoughtFilter {
  text: string;
  whole: boolean;
}

/** The episodes with such a first thought, or all without a filter; null while they come. Of an evaluation, whose thoughts aren't counted, all. */
export function useOfThought(
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
    const wanted = thoughts.thoughts.filter(({ text }) => matches(text, filter.text, filter.whole));
    const ids = new Set(wanted.flatMap((each) => each.episodes));
    return episodes?.filter(({ id }) => ids.has(id)) ?? null;
  }, [episodes, filter, asked, thoughts, problem]);
}
