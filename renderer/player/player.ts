import type { Frame } from '../../core/contract/contract.ts';

/** Times in milliseconds at speed 1. */
const motionTime = 380;
const restTime = 420;
/** Pause before the first action of a turn, to read the reasoning. */
const turnTime = 900;

export const speeds = [0.5, 1, 2, 4, 8] as const;

export interface PlayerState {
  /** Index of the frame shown. While `motion` is below 1, the board moves from the previous frame. */
  index: number;
  count: number;
  motion: number;
  /** Milliseconds at speed 1 since the frame's motion ended. */
  rested: number;
  playing: boolean;
  speed: number;
}

export type PlayerAction =
  | { type: 'load'; count: number }
  | { type: 'toggle' }
  | { type: 'step'; by: 1 | -1 }
  | { type: 'seek'; index: number }
  | { type: 'home' }
  | { type: 'end' }
  | { type: 'speed'; speed: number }
  | { type: 'faster' }
  | { type: 'slower' }
  /** `elapsed`: wall time in ms. `pause`: how long the current frame stays at speed 1. */
  | { type: 'tick'; elapsed: number; pause: number };

export const initialPlayer: PlayerState = {
  index: 0,
  count: 0,
  motion: 1,
  rested: 0,
  playing: false,
  speed: 1,
};

export function player(state: PlayerState, action: PlayerAction): PlayerState {
  const last = Math.max(0, state.count - 1);
  switch (action.type) {
    case 'load':
      return { ...initialPlayer, count: action.count, speed: state.speed };
    case 'toggle':
      if (state.playing) return { ...state, playing: false };
      if (state.count < 2) return state;
      return state.index >= last && state.motion >= 1
        ? { ...state, index: 0, motion: 1, rested: 0, playing: true }
        : { ...state, playing: true };
    case 'step': {
      const index = clamp(state.index + action.by, last);
      // Steps forward are animated; steps back are not.
      const motion = action.by > 0 && index !== state.index ? 0 : 1;
      return { ...state, index, motion, rested: 0, playing: false };
    }
    case 'seek':
      return { ...state, index: clamp(action.index, last), motion: 1, rested: 0, playing: false };
    case 'home':
      return player(state, { type: 'seek', index: 0 });
    case 'end':
      return player(state, { type: 'seek', index: last });
    case 'speed':
      return { ...state, speed: action.speed };
    case 'faster':
      return { ...state, speed: speeds.find((speed) => speed > state.speed) ?? state.speed };
    case 'slower':
      return { ...state, speed: speeds.findLast((speed) => speed < state.speed) ?? state.speed };
    case 'tick':
      return tick(state, action.elapsed * state.speed, action.pause, last);
  }
}

function tick(state: PlayerState, time: number, pause: number, last: number): PlayerState {
  if (state.motion < 1) return { ...state, motion: Math.min(1, state.motion + time / motionTime), rested: 0 };
  if (!state.playing) return state;
  if (state.index >= last) return { ...state, playing: false };
  const rested = state.rested + time;
  return rested < pause ? { ...state, rested } : { ...state, index: state.index + 1, motion: 0, rested: 0 };
}

/** Returns whether another animation frame would change the state. */
export function isMoving(state: PlayerState): boolean {
  return state.playing || state.motion < 1;
}

/** Returns how long a frame stays, in ms: longer if the next frame begins a turn. */
export function restOf(frames: readonly Frame[], index: number): number {
  const next = frames[index + 1];
  return next && next.step <= 0 ? turnTime : restTime;
}

/** Maps keys to player actions. `-` and `+` change the speed. */
export function keyAction(key: string): PlayerAction | null {
  switch (key) {
    case ' ':
      return { type: 'toggle' };
    case 'ArrowLeft':
      return { type: 'step', by: -1 };
    case 'ArrowRight':
      return { type: 'step', by: 1 };
    case 'Home':
      return { type: 'home' };
    case 'End':
      return { type: 'end' };
    case '-':
      return { type: 'slower' };
    case '+':
    case '=':
      return { type: 'faster' };
    default:
      return null;
  }
}

function clamp(index: number, last: number): number {
  return Math.min(last, Math.max(0, index));
}
