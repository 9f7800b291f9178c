import { box, circle, ellipse, type Shape } from '../shapes.tsx';
import type { Ground } from './room.ts';

/** Shapes of a room; looks are classes of room-board.module.css. */

const floor: Shape = { look: 'floor', d: box(0, 0, 64, 64) };

export const grounds: Readonly<Record<Ground, readonly Shape[]>> = {
  wall: [
    { look: 'wall', d: box(0, 0, 64, 64) },
    // An even number of rows continues the pattern in the next cell.
    { look: 'mortar', d: 'M0 16h64M0 32h64M0 48h64M0 64h64M16 0v16M48 16v16M16 32v16M48 48v16' },
  ],
  floor: [floor],
  target: [floor, { look: 'ring', d: circle(32, 32, 17) }, { look: 'dot', d: circle(32, 32, 6) }],
};

export type BoxState = 'loose' | 'stored' | 'lost';

/** Marks on a crate: a brace, a check mark on a target, a cross if it is lost. */
const marks: Readonly<Record<BoxState, Shape>> = {
  loose: { look: 'looseBoards', d: 'M18 42L46 22' },
  stored: { look: 'check', d: 'M21 33l8 8 15-17' },
  lost: { look: 'cross', d: 'M22 22l20 20M42 22L22 42' },
};

const crate = (state: BoxState): readonly Shape[] => [
  { look: `${state}Case`, d: box(8, 8, 48, 48, 5) },
  { look: `${state}Boards`, d: 'M14 20h36M14 44h36' },
  marks[state],
];

export const boxes: Readonly<Record<BoxState, readonly Shape[]>> = {
  loose: crate('loose'),
  stored: crate('stored'),
  lost: crate('lost'),
};

export const keeper: readonly Shape[] = [
  { look: 'shadow', d: ellipse(32, 55, 15, 4) },
  { look: 'legs', d: 'M23 43h8v11h-9zM33 43h8l1 11h-9z' },
  { look: 'body', d: 'M18 46c0-12 4-19 14-19s14 7 14 19z' },
  { look: 'face', d: circle(32, 20, 11) },
  { look: 'cap', d: 'M20 18c0-8 5-12 12-12s12 4 12 12zM19 17h27c2 0 2 3 0 3H19z' },
  { look: 'eye', d: circle(28, 23, 1.7) + circle(36, 23, 1.7) },
];
