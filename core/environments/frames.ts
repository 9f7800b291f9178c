import type { Frame } from '../contract/contract.ts';
import { type EpisodeActions, ownFacts } from '../run-directory/episode.ts';

/**
 * Returns the initial state, then one frame per executed action. A turn without executed actions gets one frame with the same board. The
 * trainer recorded each outcome, so the environment is not run again.
 */
export function actionFrames(episode: EpisodeActions): Frame[] {
  let total = 0;
  let board = episode.initial;
  let deadEnd = false;
  const still = (turn: number): Frame => ({
    turn,
    step: -1,
    action: null,
    board,
    reward: 0,
    total,
    effective: false,
    slipped: false,
    done: false,
    success: false,
    deadEnd,
    facts: [],
  });
  const frames = [still(0)];
  for (const [turn, step] of episode.steps.entries()) {
    for (const [index, outcome] of step.executed.entries()) {
      total += outcome.reward;
      board = outcome.board;
      deadEnd = outcome.dead_end;
      if (index === step.executed.length - 1) total += step.penalty;
      const { action, reward, effective, slipped, done, success } = outcome;
      const flags = { effective, slipped, done, success, deadEnd, facts: ownFacts(outcome) };
      frames.push({ turn, step: index, action, board, reward, total, ...flags });
    }
    if (step.executed.length === 0) {
      total += step.penalty;
      frames.push(still(turn));
    }
  }
  return frames;
}
