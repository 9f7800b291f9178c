import { useEffect, useMemo, useState, useSyncExternalStore } from 'react';
import { frames as scheduler } from '../../base/frame-scheduler.ts';
import type { Motion } from '../../environments/motion.ts';

/** Duration of an action's animation, in ms. */
const motionTime = 260;

/** Plays the frames of a growing episode one action at a time, outside React. */
class Playback {
  index = 0;
  private last = 0;
  private progress = 1;
  private rested = 0;
  private time = 0;
  private readonly pause: number;
  private readonly steps = new Set<() => void>();
  private readonly draws = new Set<(progress: number) => void>();

  /** `pause`: the time between actions, in ms. */
  constructor(pause: number) {
    this.pause = pause;
  }

  get moving(): boolean {
    return this.progress < 1;
  }

  /** Updates the number of frames. Shows the last one without motion if there are fewer than before, or with reduced motion. */
  follow(count: number): void {
    this.last = Math.max(0, count - 1);
    const still = this.last < this.index || matchMedia('(prefers-reduced-motion: reduce)').matches;
    if (still) this.show(this.last, 1);
    else if (this.index < this.last) this.start();
  }

  readonly onStep = (listener: () => void) => {
    this.steps.add(listener);
    return () => this.steps.delete(listener);
  };

  readonly followMotion = (draw: (progress: number) => void) => {
    draw(this.progress);
    this.draws.add(draw);
    return () => void this.draws.delete(draw);
  };

  close(): void {
    scheduler.cancel(this.tick);
  }

  private start(): void {
    this.time = performance.now();
    scheduler.schedule(this.tick);
  }

  private readonly tick = (): void => {
    const now = performance.now();
    const elapsed = now - this.time;
    this.time = now;
    if (this.moving) this.show(this.index, Math.min(1, this.progress + elapsed / motionTime));
    else if (this.index < this.last) {
      this.rested += elapsed;
      if (this.rested >= this.pause) this.show(this.index + 1, 0);
    }
    if (this.moving || this.index < this.last) scheduler.schedule(this.tick);
  };

  private show(index: number, progress: number): void {
    const steps = index !== this.index || this.progress < 1 !== progress < 1;
    this.index = index;
    this.progress = progress;
    if (progress < 1) this.rested = 0;
    if (steps) for (const listener of this.steps) listener();
    for (const draw of this.draws) draw(progress);
  }
}

/** Returns the frame to show and the motion toward it. */
export function usePlayback(count: number, pause: number): { index: number; motion: Motion } {
  const [playback] = useState(() => new Playback(pause));
  useEffect(() => playback.follow(count), [playback, count]);
  useEffect(() => () => playback.close(), [playback]);
  const index = useSyncExternalStore(playback.onStep, () => Math.min(playback.index, count - 1));
  const moving = useSyncExternalStore(playback.onStep, () => playback.moving);
  const motion = useMemo<Motion>(() => ({ moving, follow: playback.followMotion }), [playback, moving]);
  return { index, motion };
}
