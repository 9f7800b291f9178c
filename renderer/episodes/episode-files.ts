import type { Evaluation, RolloutFile } from '../../core/contract/contract.ts';
import { environmentTitle } from '../environments/registry.ts';

/** What names a file of episodes within its run; `evaluation`: the one that was asked for, null for the run's own rollouts. */
export interface FileName {
  iteration: number;
  split: string;
  evaluation: string | null;
}

export interface EpisodeFile extends FileName {
  /** Files of one set hold the same levels, played by different checkpoints; `train` has other levels in each. */
  set: string;
  title: string;
}

export const sameFile = (a: FileName | null, b: FileName | null): boolean =>
  a !== null &&
  b !== null &&
  a.iteration === b.iteration &&
  a.split === b.split &&
  a.evaluation === b.evaluation;

/**
 * Everything that can be replayed, newest first. An evaluation that was asked for and equals the run's own in all but the checkpoint joins its set;
 * of the same checkpoint twice in a set, the run's own stays, else the newest.
 */
export function episodeFiles(rollouts: RolloutFile[], evaluations: Evaluation[]): EpisodeFile[] {
  const own = rollouts.map(({ iteration, split }): EpisodeFile => {
    const title = split === 'train' ? 'Training rollout' : `Evaluation: ${environmentTitle(split)}`;
    return { iteration, split, evaluation: null, set: split, title };
  });
  const asked = evaluations
    .filter(({ state }) => state === 'done')
    .map((each): EpisodeFile => {
      const { name, checkpoint, label } = each;
      const title = `Evaluation: ${[environmentTitle(label), ...each.changes].join(', ')}`;
      return { iteration: checkpoint, split: label, evaluation: name, set: setOf(each), title };
    });
  const files: EpisodeFile[] = [];
  for (const file of [...own, ...asked]) {
    if (!files.some(({ set, iteration }) => set === file.set && iteration === file.iteration))
      files.push(file);
  }
  return files.sort((a, b) => b.iteration - a.iteration || rank(a) - rank(b) || a.set.localeCompare(b.set));
}

const setOf = ({ label, changes }: Evaluation) => [label, ...changes].join(', ');

/** The training rollout, the run's own sets, then what was asked for. */
export const rank = ({ split, set }: EpisodeFile): number => (split === 'train' ? 0 : set === split ? 1 : 2);

/** `000012-train-0037` says which file it is in; null where it doesn't. */
export function fileOf(episodeId: string | null, evaluation: string | null): FileName | null {
  const match = /^(\d+)-(.+)-\d+$/.exec(episodeId ?? '');
  return match ? { iteration: Number(match[1]), split: match[2]!, evaluation } : null;
}

/**
 * The file that an address means: by its episode, or by the evaluation alone. An evaluation that isn't listed, since the run's own of its checkpoint is
 * the same, means that one.
 */
export function findFile(
  files: readonly EpisodeFile[],
  evaluations: readonly Evaluation[],
  episodeId: string | null,
  evaluation: string | null,
): EpisodeFile | null {
  const name = fileOf(episodeId, evaluation);
  const found = files.find((file) => (name ? sameFile(file, name) : file.evaluation === evaluation));
  if (found || !evaluation) return found ?? null;
  const asked = evaluations.find((each) => each.name === evaluation);
  return (
    files.find(({ set, iteration }) => asked && set === setOf(asked) && iteration === asked.checkpoint) ??
    null
  );
}
