import type { Frame, RolloutBoards } from '../contract/contract.ts';
import { episodeSummary } from '../contract/episodes.ts';
import { toFrames } from '../environments/replay.ts';
import { type Episode, episode } from '../run-directory/episode.ts';
import { parseFrame, type RolloutPaths, readIndex, readRollout } from '../run-directory/rollouts.ts';
import { float16Array, mean } from '../run-directory/token-arrays.ts';

/** Maximum characters of the first reasoning text. */
const thoughtLength = 160;

/** Maximum number of characters of all pictures. Further ones are omitted, because a rollout can have thousands. */
const maxPictures = 32 << 20;

type Board = RolloutBoards['episodes'][number];

/** Reads the boards of a rollout file's episodes, of all groups or one. Throws `rollout_missing` or `rollout_corrupt`. */
export async function readBoards(
  folder: string,
  paths: RolloutPaths,
  group?: number,
): Promise<Omit<RolloutBoards, 'iteration' | 'split'>> {
  const index = await readIndex(folder, paths);
  const bytes = await readRollout(folder, paths);
  const indices = new Map<string, number>();
  let pictures = 0;
  const episodes = index
    .filter((entry) => group === undefined || entry.group === group)
    .map((entry) =>
      boardOf(parseFrame(episode, paths, bytes, entry), (board) => {
        if (board.startsWith('data:') && !indices.has(board)) pictures += board.length;
        if (pictures > maxPictures) return -1;
        const index = indices.get(board) ?? indices.size;
        indices.set(board, index);
        return index;
      }),
    );
  return { boards: [...indices.keys()], episodes };
}

function boardOf(episode: Episode, indexOf: (board: string) => number): Board {
  const frames = toFrames(episode);
  const first = episode.steps[0];
  return {
    summary: episodeSummary.parse(episode),
    type: episode.type,
    config: episode.config,
    arms: episode.arms ?? null,
    boards: frames.map(({ board }) => (board === null ? -1 : indexOf(board))),
    actions: frames.map(({ action }) => action),
    rewards: frames.map(({ reward }) => reward),
    slipped: frames.flatMap(({ slipped }: Frame, at) => (slipped ? [at] : [])),
    advantage: advantageOf(episode),
    thought: [...(first?.think ?? first?.response ?? '').trim()].slice(0, thoughtLength).join(''),
  };
}

/** Returns the mean advantage of the sampled tokens; null if the update didn't train on the episode. */
function advantageOf({ steps }: Episode): number | null {
  const values = steps.flatMap(({ tokens: { advantages } }) => (advantages ? float16Array(advantages) : []));
  return values.length > 0 ? mean(values) : null;
}
