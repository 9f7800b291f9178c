import { useEffect, useState } from 'react';
import type { RolloutBoards } from '../../core/contract/contract.ts';
import { useApi } from '../api/context.ts';
import { useApp } from '../stores/app-store.ts';
import type { FileName } from './episode-files.ts';

/** Returns the boards of a group; `boards` is null while loading and on failure. */
export function useGroup(
  runId: string,
  { iteration, split, evaluation }: FileName,
  group: number,
): { boards: RolloutBoards | null; failed: boolean } {
  const api = useApi();
  const connection = useApp((state) => state.connection);
  const key = `${runId} ${iteration} ${split} ${evaluation} ${group}`;
  const [loaded, setLoaded] = useState<{ key: string; boards: RolloutBoards | null } | null>(null);
  useEffect(() => {
    if (connection !== 'open') return;
    let active = true;
    api
      .call('rollouts.boards', { runId, iteration, split, evaluation, group })
      .then((boards) => active && setLoaded({ key, boards }))
      // The list of episodes reports errors of the same file.
      .catch(() => active && setLoaded({ key, boards: null }));
    return () => {
      active = false;
    };
  }, [api, connection, runId, iteration, split, evaluation, group, key]);
  const current = loaded?.key === key ? loaded : null;
  return { boards: current?.boards ?? null, failed: current?.boards === null };
}
