import type { RunStatus } from './runs.ts';

/** Whether a trainer is at work on it, or waits to go on. */
export const isLive = (status: RunStatus) => status === 'running' || status === 'paused';
