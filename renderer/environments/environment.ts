import type { ComponentType } from 'react';
import type { Frame, Replay } from '../../core/contract/contract.ts';
import type { Motion } from './motion.ts';

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

/** How an environment is drawn and put into words; registry.ts lists those that this build knows. */
export interface EnvironmentView {
  type: string;
  /** The heading of its presets. */
  title: string;
  tagline: string;
  /** Of a frame that has an action. */
  outcome: (frames: readonly Frame[], index: number) => Outcome;
  Board: ComponentType<BoardProps>;
  /** The board's text twin: what one sees on it, for those who don't. */
  describe: (replay: Replay, index: number) => string;
  /** A small still for a preset's card; decoration. */
  Illustration: ComponentType<IllustrationProps>;
}
