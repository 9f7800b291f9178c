import type { Replay, RolloutBoards } from '../../core/contract/contract.ts';
import type { PaintedEpisode, Painter, Scene } from '../environments/environment.ts';
import { environmentOf } from '../environments/registry.ts';
import { textPainter } from '../environments/text-painter.ts';

/** An episode and the painter of its boards. */
export interface Painting {
  painter: Painter;
  scene: Scene;
  /** Number of frames. */
  count: number;
}

/** Prepares an episode for painting. Boards that the environment can't parse are painted as text. */
export function paintingOf(type: string, played: PaintedEpisode): Painting {
  const { painter } = environmentOf(type);
  const scene = painter.scene(played);
  const count = played.frames.length;
  return scene ? { painter, scene, count } : { painter: textPainter, scene: textPainter.scene(played)!, count };
}

export const paintingOfReplay = (replay: Replay): Painting => paintingOf(replay.type, replay);

/** Returns the painting of an episode in a file of boards. */
export function paintingOfBoards(
  { boards }: Pick<RolloutBoards, 'boards'>,
  episode: RolloutBoards['episodes'][number],
): Painting {
  const slipped = new Set(episode.slipped);
  const frames = episode.boards.map((boardIndex, index) => ({
    board: boards[boardIndex] ?? null,
    action: episode.actions[index] ?? null,
    reward: episode.rewards[index] ?? 0,
    slipped: slipped.has(index),
  }));
  return paintingOf(episode.type, { frames, config: episode.config, arms: episode.arms });
}
