import type { RolloutBoards } from '../../core/contract/contract.ts';
import { useQuery } from '../stores/use-query.ts';
import type { FileName } from './episode-files.ts';

/** Returns the boards of a group; `boards` is null while loading and on failure. The list of episodes reports errors of the same file. */
export function useGroup(
  runId: string,
  { iteration, split, evaluation }: FileName,
  group: number,
): { boards: RolloutBoards | null; failed: boolean } {
  const { value, error, fresh } = useQuery('rollouts.boards', { runId, iteration, split, evaluation, group }, 0);
  return { boards: fresh ? value : null, failed: fresh && error !== null };
}
