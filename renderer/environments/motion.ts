import { useLayoutEffect } from 'react';

/** How far a board is on its way from the frame before. React draws it where that begins and ends; in between, what moves draws itself. */
export interface Motion {
  moving: boolean;
  /** Calls `draw` with 0..1 of the way, at once and whenever it changes, until the function that it gives is called. */
  follow: (draw: (progress: number) => void) => () => void;
}

/** A board that has arrived. */
export const arrived: Motion = {
  moving: false,
  follow(draw) {
    draw(1);
    return () => {};
  },
};

/** Draws what moves, in every frame of a motion. `draw` is stable as long as it would draw the same. */
export function useMotion(motion: Motion, draw: (progress: number) => void): void {
  useLayoutEffect(() => motion.follow(draw), [motion, draw]);
}
