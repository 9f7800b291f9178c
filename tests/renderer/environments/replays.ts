import type { Frame, Replay } from '../../../core/contract/contract.ts';
import type { Motion } from '../../../renderer/environments/motion.ts';

/** Returns a motion that stays at a fixed progress, 0 to 1. */
export const motionAt = (progress: number): Motion => ({
  moving: progress < 1,
  follow(draw) {
    draw(progress);
    return () => {};
  },
});

/** Returns a frame without an action. */
export const still = (change: Partial<Frame> = {}): Frame => ({
  turn: 0,
  step: -1,
  action: null,
  board: null,
  reward: 0,
  total: 0,
  effective: false,
  slipped: false,
  done: false,
  success: false,
  deadEnd: false,
  facts: [],
  ...change,
});

/** Returns a frame after an action; default: the first action. */
export const acted = (change: Partial<Frame>): Frame => still({ step: 0, effective: true, ...change });

/** Returns an episode of an environment with the given frames. */
export const replayOf = (type: string, frames: Frame[], change: Partial<Replay> = {}): Replay => ({
  summary: {
    id: '000001-train-0000',
    iteration: 1,
    split: 'train',
    environment: type,
    group: 0,
    member: 0,
    seed: 10000,
    reward: 0,
    success: false,
    ended: 'done',
    turns: 1,
    actions: frames.length - 1,
    tokens: 1,
    kept: true,
    format_valid: true,
  },
  type,
  config: {},
  arms: null,
  prompt: '',
  frames,
  turns: [],
  ...change,
});
