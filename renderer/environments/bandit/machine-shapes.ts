import { box, circle, type Shape } from '../shapes.tsx';

/** A machine, 120 by 108 units; looks are classes of bandit-board.module.css. */

/** Returns the lever. `down`: how far it is pulled, in units. */
export const stem = (down: number) => `M93 62h9V${30 + down}`;
export const knob = (down: number) => circle(102, 26 + down, 8);

export const body: readonly Shape[] = [
  { look: 'case', d: box(10, 14, 84, 86, 12) },
  { look: 'window', d: box(20, 28, 64, 34, 6) },
  { look: 'slot', d: box(32, 78, 40, 8, 4) },
];

export const lever: readonly Shape[] = [
  { look: 'stem', d: stem(0) },
  { look: 'knob', d: knob(0) },
];

export const coin: Shape = { look: 'coin', d: circle(52, 82, 9) };

/** Frame of the chosen machine. */
export const frame: Shape = { look: 'frame', d: box(2, 4, 116, 102, 16) };
