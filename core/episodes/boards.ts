import { readFile } from 'node:fs/promises';
import type { Frame, RolloutBoards } from '../contract/contract.ts';
import { episodeSummary } from '../contract/episodes.ts';
import { toFrames } from '../environments/replay.ts';
import { type Episode, episode } from '../run-directory/episode.ts';
import { corrupt, inside, missing, type RolloutPaths, readIndex, unpack } from '../run-directory/rollouts.ts';

/** Of a first thought, no more than a line. */
const thoughtLength = 160;

type Board = RolloutBoards['episodes'][number];

/** A rollout file's episodes as boards; `group`: that group's alone. Throws `rollout_missing` or `rollout_corrupt`. */
export async function readBoards(
  folder: string,
  paths: RolloutPaths,
  group?: number,
): Promise<Omit<RolloutBoards, 'iteration' | 'split'>> {
  const index = await readIndex(folder, paths);
  const file = await readFile(inside(folder, paths.file)).catch(() => {
    throw missing(paths.file);
  });
  const places = new Map<string, number>();
  const episodes = index
    .filter((entry) => group === undefined || entry.group === group)
    .map(({ offset, length }) =>
      boardOf(read(paths.file, file.subarray(offset, offset + length)), (board) => {
        const place = places.get(board) ?? places.size;
        places.set(board, place);
        return place;
      }),
    );
  return { boards: [...places.keys()], episodes };
}

function read(file: string, frame: Buffer): Episode {
  try {
    return episode.parse(JSON.parse(unpack(frame)));
  } catch {
    throw corrupt(file);
  }
}

function boardOf(episode: Episode, placeOf: (board: string) => number): Board {
  const frames = toFrames(episode);
  const first = episode.steps[0];
  return {
    summary: episodeSummary.parse(episode),
    type: episode.type,
    config: episode.config,
    arms: episode.arms ?? null,
    boards: frames.map(({ board }) => (board === null ? -1 : placeOf(board))),
    actions: frames.map(({ action }) => action),
    rewards: frames.map(({ reward }) => reward),
    slipped: frames.flatMap(({ slipped }: Frame, at) => (slipped ? [at] : [])),
    thought: [...(first?.think ?? first?.response ?? '').trim()].slice(0, thoughtLength).join(''),
  };
}
