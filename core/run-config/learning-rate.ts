import type { RunConfig } from './schema.ts';

/** Policy's learning rate in an iteration as the trainer has it after warm-up (native/src/train/update/optimizer_step.cpp). */
export function learningRate({ optimizer, iterations }: RunConfig, iteration: number): number {
  const progress = Math.min(1, (iteration - 1) / iterations);
  if (optimizer.schedule === 'linear') return optimizer.learning_rate * (1 - progress);
  if (optimizer.schedule === 'cosine')
    return (optimizer.learning_rate * (1 + Math.cos(Math.PI * progress))) / 2;
  return optimizer.learning_rate;
}

/** By how much a rate has to be above another to be called higher. */
const clearly = 1.05;

/**
 * What is to be said where a run goes on from a checkpoint of `parent` and its schedule takes the learning rate up again, since it counts to another number of iterations; else
 * null. Both rates are those of the first iteration after the checkpoint.
 */
export function risingRate(
  parent: RunConfig,
  config: RunConfig,
): { iteration: number; before: number; now: number } | null {
  if (config.start.run === '' || config.optimizer.schedule === 'constant') return null;
  const iteration = config.start.checkpoint + 1;
  const before = learningRate(parent, iteration);
  const now = learningRate(config, iteration);
  return now > before * clearly ? { iteration, before, now } : null;
}
