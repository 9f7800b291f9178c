import { episodeSummary, type Frame, type Replay, type ReplayTurn } from '../contract/contract.ts';
import type { Episode, EpisodeStep } from './episode.ts';
import { float16Array, float32Array, mean } from './token-arrays.ts';

/** An episode as pictures and turns, ready to draw: the trainer recorded each action's outcome, so nothing is run again. */
export function toReplay(episode: Episode): Replay {
  return {
    summary: episodeSummary.parse(episode),
    type: episode.type,
    config: episode.config,
    arms: episode.arms ?? null,
    prompt: episode.prompt_text,
    frames: toFrames(episode),
    turns: episode.steps.map(toTurn),
  };
}

/** The initial state, then one frame for each executed action; a turn that executed none keeps the picture and gets one frame of its own. */
export function toFrames(episode: Episode): Frame[] {
  const hasBoard = episode.type !== 'bandit';
  let total = 0;
  let board = hasBoard ? episode.initial : null;
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
  });
  const frames = [still(0)];
  for (const [turn, step] of episode.steps.entries()) {
    for (const [index, outcome] of step.executed.entries()) {
      total += outcome.reward;
      board = hasBoard ? outcome.board : null;
      deadEnd = outcome.dead_end;
      if (index === step.executed.length - 1) total += step.penalty;
      const { action, reward, effective, slipped, done, success } = outcome;
      const flags = { effective, slipped, done, success, deadEnd };
      frames.push({ turn, step: index, action, board, reward, total, ...flags });
    }
    if (step.executed.length === 0) {
      total += step.penalty;
      frames.push(still(turn));
    }
  }
  return frames;
}

function toTurn(step: EpisodeStep): ReplayTurn {
  const logprobs = float32Array(step.tokens.logprobs);
  return {
    state: step.state,
    response: step.response,
    think: step.think,
    answer: step.answer,
    actions: step.actions,
    formatValid: step.format_valid,
    reward: step.reward,
    penalty: step.penalty,
    tokens: logprobs.length,
    logprobMean: mean(logprobs),
    entropyMean: mean(float16Array(step.tokens.entropies)),
  };
}
