import { useEffect, useState } from 'react';
import { useApi } from '../../api/context.ts';
import type { EpisodeFile } from '../../episodes/episode-files.ts';
import { useApp } from '../../stores/app-store.ts';

export type FirstThoughts = ReadonlyMap<string, string>;

/** How the first thought of each episode of some files begins, by the episode's id; null while they come. A file that can't be read has none: its episodes say why. */
export function useFirstThoughts(runId: string, files: readonly EpisodeFile[]): FirstThoughts | null {
  const api = useApi();
  const open = useApp((state) => state.connection === 'open');
  const [known, setKnown] = useState<{ key: string; thoughts: FirstThoughts } | null>(null);
  const key = JSON.stringify(
    files.map(({ iteration, split, evaluation }) => ({ runId, iteration, split, evaluation })),
  );
  useEffect(() => {
    if (!open) return;
    let wanted = true;
    const questions: { runId: string; iteration: number; split: string; evaluation: string | null }[] =
      JSON.parse(key);
    const answers = questions.map((question) =>
      api.call('rollouts.boards', question).then(
        ({ episodes }) => episodes.map(({ summary, thought }) => [summary.id, thought] as const),
        () => [],
      ),
    );
    Promise.all(answers).then((found) => wanted && setKnown({ key, thoughts: new Map(found.flat()) }));
    return () => {
      wanted = false;
    };
  }, [api, open, key]);
  return known?.key === key ? known.thoughts : null;
}
