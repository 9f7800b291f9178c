import type { Evaluation, RolloutFile } from '../../core/contract/contract.ts';
import { environmentTitle } from '../environments/registry.ts';

/**
 * Identifies an episode file within its run. `evaluation`: name of the on-demand evaluation; null for the
 * run's own rollouts.
 */
export interface FileName {
  iteration: number;
  split: string;
  evaluation: string | null;
}

export interface EpisodeFile extends FileName {
  /** Files of a set have the same levels, played by different checkpoints. Files of `train` have different levels. */
  set: string;
  title: string;
}

export const sameFile = (a: FileName | null, b: FileName | null): boolean =>
  a !== null && b !== null && a.iteration === b.iteration && a.split === b.split && a.evaluation === b.evaluation;

/**
 * Returns all files that can be replayed, newest first. On-demand evaluations with the run's own settings
 * join its set. If a set has several files of a checkpoint, the run's own, otherwise the newest, is kept.
 */
export function episodeFiles(rollouts: RolloutFile[], evaluations: Evaluation[]): EpisodeFile[] {
  const own = rollouts.map(({ iteration, split }): EpisodeFile => {
    const title = split === 'train' ? 'Training rollout' : `Evaluation: ${environmentTitle(split)}`;
    return { iteration, split, evaluation: null, set: split, title };
  });
  const onDemand = evaluations
    .filter(({ state }) => state === 'done')
    .map((each): EpisodeFile => {
      const { name, checkpoint, label } = each;
      const title = `Evaluation: ${[environmentTitle(label), ...each.changes].join(', ')}`;
      return { iteration: checkpoint, split: label, evaluation: name, set: setOf(each), title };
    });
  const files: EpisodeFile[] = [];
  for (const file of [...own, ...onDemand]) {
    if (!files.some(({ set, iteration }) => set === file.set && iteration === file.iteration)) files.push(file);
  }
  return files.sort((a, b) => b.iteration - a.iteration || rank(a) - rank(b) || a.set.localeCompare(b.set));
}

const setOf = ({ label, changes }: Evaluation) => [label, ...changes].join(', ');

/** Returns the rank of a file: training first, then the run's own evaluations, then on-demand ones. */
export const rank = ({ split, set }: EpisodeFile): number => (split === 'train' ? 0 : set === split ? 1 : 2);

/** Parses an id such as `000012-train-0037`; null if it has another form. */
export function fileOf(episodeId: string | null, evaluation: string | null): FileName | null {
  const match = /^(\d+)-(.+)-\d+$/.exec(episodeId ?? '');
  return match ? { iteration: Number(match[1]), split: match[2]!, evaluation } : null;
}

/**
 * Returns the file that an address refers to by its episode or evaluation, or null. An evaluation that {@link episodeFiles} leaves out refers to
 * the listed file of the same set and checkpoint.
 */
export function findFile(
  files: readonly EpisodeFile[],
  evaluations: readonly Evaluation[],
  episodeId: string | null,
  evaluation: string | null,
): EpisodeFile | null {
  const name = fileOf(episodeId, evaluation);
  if (!name && !evaluation) return null;
  const found = files.find((file) => (name ? sameFile(file, name) : file.evaluation === evaluation));
  if (found || !evaluation) return found ?? null;
  const requested = evaluations.find((each) => each.name === evaluation);
  return (
    files.find(({ set, iteration }) => requested && set === setOf(requested) && iteration === requested.checkpoint) ??
    null
  );
}
