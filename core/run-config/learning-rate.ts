import type { RunConfig } from './schema.ts';

/** Returns the policy's learning rate at an iteration, after warm-up. Mirrors native/src/train/update/optimizer_step.cpp. */
export function learningRate({ optimizer, iterations }: RunConfig, iteration: number): number {
  const progress = Math.min(1, (iteration - 1) / iterations);
  if (optimizer.schedule === 'linear') return optimizer.learning_rate * (1 - progress);
  if (optimizer.schedule === 'cosine') return (optimizer.learning_rate * (1 + Math.cos(Math.PI * progress))) / 2;
  return optimizer.learning_rate;
}

/** Minimum ratio at which a rate counts as higher. */
const minimumRise = 1.05;

/**
 * Returns the learning rates at the first iteration after the checkpoint if a fork's schedule raises the rate again, because it spans another
 * number of iterations than the parent's; otherwise null.
 */
export function risingRate(
  parent: RunConfig,
  config: RunConfig,
): { iteration: number; before: number; now: number } | null {
  if (config.start.run === '' || config.optimizer.schedule === 'constant') return null;
  const iteration = config.start.checkpoint + 1;
  const before = learningRate(parent, iteration);
  const now = learningRate(config, iteration);
  return now > before * minimumRise ? { iteration, before, now } : null;
}
