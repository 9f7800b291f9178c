import type { RunSummary } from '../../core/contract/contract.ts';

/** Says runs by the names that people know them by: core calls them by their ids, as the command line does. */
export function named(text: string, runs: readonly Pick<RunSummary, 'id' | 'name'>[] | null): string {
  return text.replace(
    /[a-z0-9][a-z0-9-]{2,63}/g,
    (word) => runs?.find(({ id }) => id === word)?.name ?? word,
  );
}
