import type { ComponentType } from 'react';
import type { Frame, Replay } from '../../core/contract/contract.ts';
import type { Motion } from './motion.ts';
import type { Shape } from './shapes.tsx';

/** How a mark is coloured: `slip` went another way than was meant, `idle` changed nothing. */
export type Tone = 'plain' | 'idle' | 'slip' | 'good' | 'bad';

/** What became of an action. */
export interface Outcome {
  tone: Tone;
  /** After the action's name: `slipped and fell into a hole`. */
  words: string;
  /** A tag under the board, beside those that say slipped and dead end. */
  note?: string;
}

export interface BoardProps {
  replay: Replay;
  /** Of the frame shown. */
  index: number;
  /** On the way from the frame before. */
  motion: Motion;
  /** The board in words. */
  label: string;
}

export interface IllustrationProps {
  /** As run.json has it. */
  config: Record<string, unknown>;
  /** One of several pictures on a card. */
  small: boolean;
}

/** Of an episode, what a painter needs: as a replay has it, or the wall. */
export interface Played {
  frames: readonly Pick<Frame, 'board' | 'action' | 'slipped' | 'reward'>[];
  config: Record<string, unknown>;
  arms: readonly string[] | null;
}

/** Something on a board, with its middle at `x`, `y`: a stamp of the painter's, or a word. */
export type Piece = { x: number; y: number } & (
  | { stamp: string; scale?: number }
  | { text: string; size: number; look: string }
);

/** An episode made ready to be painted, frame by frame, in units of its own. */
export interface Scene {
  width: number;
  height: number;
  /** What never moves. */
  ground: readonly { x: number; y: number; shapes: readonly Shape[] }[];
  /** What may, at a frame; `progress`: 0..1 of the way from the frame before. */
  pieces: (index: number, progress: number) => readonly Piece[];
}

/** How an environment's boards are painted where there are many of them, or where a picture goes into a file. */
export interface Painter {
  /** The module whose classes the shapes' looks are, and its class that says the colours. */
  styles: Readonly<Record<string, string>>;
  palette: string;
  /** Shapes by name. */
  stamps: Readonly<Record<string, readonly Shape[]>>;
  /** Where the middle of every stamp is, in both directions, and how far from it one reaches. */
  middle: number;
  reach: number;
  /** Null where the boards can't be read. */
  scene: (played: Played) => Scene | null;
}

/** How an environment is drawn and put into words; registry.ts lists those that this build knows. */
export interface EnvironmentView {
  type: string;
  /** The heading of its presets. */
  title: string;
  tagline: string;
  /** Of a frame that has an action. */
  outcome: (frames: readonly Frame[], index: number) => Outcome;
  /**
   * Success, 0..1, of uniformly random moves and of the best possible ones, for settings for which it is known: as the presets have them. Random moves were measured over 3,072
   * episodes on the 256 validation levels by `starpo-trainer env`, within 0.015.
   */
  bounds?: (config: Record<string, unknown>, moves: number) => readonly { name: string; success: number }[];
  /** Success, 0..1, of StarPO-S in the RAGEN paper (arXiv 2504.20073, table 4): Qwen2.5-0.5B-Instruct after 200 iterations; nothing for settings that aren't the paper's. */
  paper?: (config: Record<string, unknown>) => number | undefined;
  Board: ComponentType<BoardProps>;
  painter: Painter;
  /** The board's text twin: what one sees on it, for those who don't. */
  describe: (replay: Replay, index: number) => string;
  /** A small still for a preset's card; decoration. */
  Illustration: ComponentType<IllustrationProps>;
}
