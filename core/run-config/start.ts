import type { RunConfig } from './run-config.ts';

/** Returns the iteration that a run starts from: that of the checkpoint for a fork, otherwise 0. */
export const firstIteration = ({ start }: Pick<RunConfig, 'start'>): number =>
  start.run === '' ? 0 : start.checkpoint;
