import { useLayoutEffect } from 'react';

/**
 * Progress of a board from the previous frame. React renders the start and end; in between, moving parts
 * draw themselves.
 */
export interface Motion {
  moving: boolean;
  /**
   * Calls `draw` with the progress (0 to 1), immediately and on every change, until the returned function is
   * called.
   */
  follow: (draw: (progress: number) => void) => () => void;
}

/** A board at rest. */
export const arrived: Motion = {
  moving: false,
  follow(draw) {
    draw(1);
    return () => {};
  },
};

/** Draws moving parts in every animation frame. `draw` must be stable while its output is. */
export function useMotion(motion: Motion, draw: (progress: number) => void): void {
  useLayoutEffect(() => motion.follow(draw), [motion, draw]);
}
