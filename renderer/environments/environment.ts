import type { ComponentType } from 'react';
import type { Frame, Replay } from '../../core/contract/contract.ts';
import type { Motion } from './motion.ts';
import type { Shape } from './shapes.tsx';

/** Color of a mark. `slip`: the agent moved in another direction. `idle`: nothing changed. */
export type Tone = 'plain' | 'idle' | 'slip' | 'good' | 'bad';

export interface Outcome {
  tone: Tone;
  /** Text after the action's name: `slipped and fell into a hole`. */
  text: string;
  /** A tag below the board, in addition to "slipped" and "dead end". */
  note?: string;
}

export interface BoardProps {
  replay: Replay;
  /** Index of the current frame. */
  index: number;
  /** Motion from the previous frame. */
  motion: Motion;
  /** Text alternative of the board. */
  label: string;
  /** Executes an action of the user. Present while the user plays; boards without controls ignore it. */
  act?: ((action: string) => void) | undefined;
}

export interface IllustrationProps {
  /** Settings from run.json. */
  config: Record<string, unknown>;
  /** True for one of several pictures on a card. */
  small: boolean;
}

/** The parts of an episode that a painter needs. */
export interface PaintedEpisode {
  frames: readonly Pick<Frame, 'board' | 'action' | 'slipped' | 'reward'>[];
  config: Record<string, unknown>;
  arms: readonly string[] | null;
}

/** A part of a board, centered at `x`, `y`: a stamp, text or an image by its URL. */
export type Piece = { x: number; y: number } & (
  | { stamp: string; scale?: number }
  | { text: string; size: number; look: string }
  | { image: string; width: number; height: number }
);

/** An episode prepared for painting, in the painter's units. */
export interface Scene {
  width: number;
  height: number;
  /** Shapes that never move. */
  ground: readonly { x: number; y: number; shapes: readonly Shape[] }[];
  /** Pieces of a frame. `progress`: 0 to 1 on the way from the previous frame. */
  pieces: (index: number, progress: number) => readonly Piece[];
  /** URLs of the images of its pieces. */
  images?: readonly string[];
}

/** Paints an environment's boards on the wall and in files. */
export interface Painter {
  /** The CSS module of the shapes' looks, and its class that defines the colors. */
  styles: Readonly<Record<string, string>>;
  palette: string;
  stamps: Readonly<Record<string, readonly Shape[]>>;
  /** Center of every stamp in both directions, and its radius. */
  middle: number;
  reach: number;
  /** Returns null if the boards can't be parsed. */
  scene: (played: PaintedEpisode) => Scene | null;
}

/** Draws and describes an environment. registry.ts lists all of them. */
export interface EnvironmentView {
  type: string;
  /** Title of its presets. */
  title: string;
  tagline: string;
  /** Must be called for frames with an action. */
  outcome: (frames: readonly Frame[], index: number) => Outcome;
  /**
   * Success rate, 0 to 1, of uniformly random actions and of the optimum, if known for the settings. Random
   * actions were measured over 3,072 episodes on the 256 validation levels with `starpo-trainer env`, within
   * 0.015.
   */
  bounds?: (config: Record<string, unknown>, maxActions: number) => readonly { name: string; success: number }[];
  /**
   * Success rate, 0 to 1, of StarPO-S in the RAGEN paper (arXiv 2504.20073, table 4): Qwen2.5-0.5B-Instruct
   * after 200 iterations. Undefined for other settings.
   */
  paper?: (config: Record<string, unknown>) => number | undefined;
  /** Meanings of the letters of its text grid. */
  letters?: Readonly<Record<string, string>>;
  Board: ComponentType<BoardProps>;
  /** Whether its board has controls for all usual actions, so that users rarely type an action. */
  boardActs?: boolean;
  painter: Painter;
  /** Text alternative of the board. */
  describe: (replay: Replay, index: number) => string;
  /** Decorative picture for preset cards. */
  Illustration: ComponentType<IllustrationProps>;
}
