import { useEffect, useState } from 'react';
import { useApi } from '../../api/context.ts';
import type { EpisodeFile } from '../../episodes/episode-files.ts';
import { useApp } from '../../stores/app-store.ts';

export type FirstThoughts = ReadonlyMap<string, string>;

/**
 * Returns the beginning of each episode's first reasoning, by episode id; null until loaded. Unreadable
 * files have none; opening their episodes shows the error.
 */
export function useFirstThoughts(runId: string, files: readonly EpisodeFile[]): FirstThoughts | null {
  const api = useApi();
  const open = useApp((state) => state.connection === 'open');
  const [loaded, setLoaded] = useState<{ key: string; thoughts: FirstThoughts } | null>(null);
  const key = JSON.stringify(
    files.map(({ iteration, split, evaluation }) => ({ runId, iteration, split, evaluation })),
  );
  useEffect(() => {
    if (!open) return;
    let active = true;
    const requests: { runId: string; iteration: number; split: string; evaluation: string | null }[] = JSON.parse(key);
    const responses = requests.map((request) =>
      api.call('rollouts.boards', request).then(
        ({ episodes }) => episodes.map(({ summary, thought }) => [summary.id, thought] as const),
        () => [],
      ),
    );
    Promise.all(responses).then((found) => active && setLoaded({ key, thoughts: new Map(found.flat()) }));
    return () => {
      active = false;
    };
  }, [api, open, key]);
  return loaded?.key === key ? loaded.thoughts : null;
}
