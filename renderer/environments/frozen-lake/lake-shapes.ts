import { box, circle, ellipse, type Shape } from '../shapes.tsx';
import type { Surface } from './lake.ts';

/** Shapes of a lake; looks are classes of lake-board.module.css. */

/** Width of the shore, with space for an arrow that points off the lake. */
export const shore = 14;

export const bank = (width: number, height: number): Shape[] => [
  { look: 'bank', d: box(-shore, -shore, width + 2 * shore, height + 2 * shore, 18) },
];

export const ice: Shape = { look: 'ice', d: box(2, 2, 60, 60, 7) };

/** Scratches vary between tiles, so that the lake doesn't look like a table. */
const glints: readonly Shape[] = [
  'M14 22l10-10M16 30l16-16',
  'M40 50l9-9M46 52l5-5',
  'M50 42l-10 10M48 34l-16 16',
  'M24 14l-9 9M18 12l-5 5',
].map((d) => ({ look: 'glint', d }));

export const glint = (seed: number): Shape => glints[(seed * 67) % glints.length]!;

export const hole: readonly Shape[] = [
  { look: 'rim', d: 'M10 33c0-12 8-21 21-22 14-1 23 8 23 20 0 13-9 22-22 22S10 45 10 33z' },
  { look: 'water', d: 'M14 34c0-10 7-17 18-18 11 0 18 6 18 16 0 11-8 18-18 18S14 43 14 34z' },
  { look: 'depth', d: 'M20 38c0-7 5-11 13-11 7 0 12 3 12 9 0 7-6 10-12 10s-13-2-13-8z' },
];

export const star: Shape = {
  look: 'star',
  d: 'M32 11l6.2 14 15.2 1.5-11.4 10.1 3.3 14.9L32 43.7l-13.3 7.8L22 36.6 10.6 26.5 25.8 25z',
};

/** Marks a goal that was reached. */
export const halo: Shape = { look: 'halo', d: circle(32, 32, 27) };

const shadow: Shape = { look: 'shadow', d: ellipse(0, 22, 15, 4) };

const penguin: readonly Shape[] = [
  { look: 'feet', d: 'M-11 21c0-3 9-3 9 0zM2 21c0-3 9-3 9 0z' },
  {
    look: 'body',
    d: 'M0-22c10 0 14 8 14 17 0 4 3 9 3 13 0 9-7 14-17 14s-17-5-17-14c0-4 3-9 3-13 0-9 4-17 14-17z',
  },
  { look: 'belly', d: 'M0-6c7 0 10 6 10 13S6 19 0 19-10 14-10 7-7-6 0-6z' },
  { look: 'eye', d: circle(-5, -12, 3.2) + circle(5, -12, 3.2) },
  { look: 'pupil', d: circle(-4.6, -11.6, 1.5) + circle(4.6, -11.6, 1.5) },
  { look: 'beak', d: 'M-4-7.5h8L0-2.5z' },
];

/** The agent by the tile it is on, centered at 0,0. */
export const agents: Readonly<Record<Surface, readonly Shape[]>> = {
  ice: [shadow, ...penguin],
  goal: [shadow, ...penguin],
  hole: [
    ...penguin,
    { look: 'water', d: 'M-20 14c6 5 34 5 40 0v10h-40z' },
    { look: 'ripple', d: 'M-21 14c7 6 35 6 42 0M-15 21c6 4 24 4 30 0' },
  ],
};

/** Scale of the agent: smaller in a hole and on the goal. */
export const sizes: Readonly<Record<Surface, number>> = { ice: 1, hole: 0.62, goal: 0.84 };
