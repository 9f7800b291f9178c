/**
 * Draws series after the collapses in figure 6 of the RAGEN paper: reward std, reward mean, entropy and gradient norm of five runs, through
 * the iterations that its text and captions name, with added noise. They are not measurements; they test whether the detectors would have
 * warned. Usage: node benchmarks/echo-trap/draw-paper.ts
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { randomNumbers } from '../bootstrap.ts';
import { compactJson } from '../machine.ts';
import { interpolate, type Shape } from './shape.ts';

interface Drawn {
  name: string;
  environment: string;
  estimator: 'gae' | 'grpo';
  iterations: number;
  /** Iteration at which the paper's reward collapses. */
  onset: number;
  reward: Shape;
  rewardStd: Shape;
  entropy: Shape;
  gradient: Shape;
  /** Iterations with single gradient spikes. */
  spikes: readonly number[];
}

const runs: readonly Drawn[] = [
  {
    name: 'frozen-lake-ppo',
    environment: 'frozen-lake',
    estimator: 'gae',
    iterations: 140,
    onset: 90,
    reward: [1, 0.15, 40, 0.3, 88, 0.3, 100, 0.1, 140, 0.03],
    rewardStd: [1, 0.36, 38, 0.38, 60, 0.2, 85, 0.1, 140, 0.03],
    entropy: [1, 1, 40, 0.7, 85, 0.35, 100, 0.5, 140, 0.2],
    gradient: [1, 0.4, 80, 0.5, 140, 0.9],
    spikes: [90, 97, 111],
  },
  {
    name: 'bandit-ppo',
    environment: 'bandit',
    estimator: 'gae',
    iterations: 200,
    onset: 120,
    reward: [1, 0.17, 120, 0.25, 135, 0.15, 200, 0.05],
    rewardStd: [1, 0.32, 30, 0.26, 70, 0.06, 200, 0.02],
    entropy: [1, 1, 70, 0.5, 120, 0.25, 200, 0.1],
    gradient: [1, 0.4, 150, 0.5, 200, 1],
    spikes: [170, 181],
  },
  {
    name: 'sokoban-ppo',
    environment: 'sokoban',
    estimator: 'gae',
    iterations: 150,
    onset: 50,
    reward: [1, -0.2, 20, 0.9, 48, 1, 60, 0.1, 150, -0.8],
    rewardStd: [1, 2.6, 12, 2.7, 40, 1.3, 60, 0.6, 150, 0.1],
    entropy: [1, 0.9, 40, 0.45, 60, 0.3, 150, 0.15],
    gradient: [1, 0.5, 100, 0.7, 150, 1.2],
    spikes: [110, 122],
  },
  {
    name: 'bandit-grpo',
    environment: 'bandit',
    estimator: 'grpo',
    iterations: 100,
    onset: 20,
    reward: [1, 0.17, 18, 0.22, 30, 0.1, 100, 0.05],
    rewardStd: [1, 0.32, 10, 0.28, 18, 0.1, 100, 0.02],
    entropy: [1, 1, 10, 0.8, 20, 0.4, 100, 0.1],
    gradient: [1, 0.4, 100, 0.6],
    spikes: [24],
  },
  {
    name: 'sokoban-grpo',
    environment: 'sokoban',
    estimator: 'grpo',
    iterations: 100,
    onset: 10,
    reward: [1, -0.2, 9, 0.3, 20, -0.5, 100, -1],
    rewardStd: [1, 2.6, 6, 2, 15, 0.7, 100, 0.1],
    entropy: [1, 0.9, 10, 0.6, 100, 0.2],
    gradient: [1, 0.5, 100, 0.9],
    spikes: [14],
  },
];

const rounded = (value: number) => Number(value.toPrecision(4));

for (const [index, { name, environment, estimator, iterations, onset, spikes, ...shapes }] of runs.entries()) {
  const folder = join(import.meta.dirname, 'paper', name);
  mkdirSync(folder, { recursive: true });
  const random = randomNumbers(index + 1);
  /** Adds noise of up to a tenth of the value. */
  const noisy = (value: number) => rounded(value * (0.9 + 0.2 * random()));
  const lines = Array.from({ length: iterations }, (_, i) => {
    const iteration = i + 1;
    const gradient = noisy(interpolate(shapes.gradient, iteration)) * (spikes.includes(iteration) ? 12 : 1);
    const metrics = {
      'rollout/reward_mean': noisy(interpolate(shapes.reward, iteration)),
      'rollout/reward_std_in_group': noisy(interpolate(shapes.rewardStd, iteration)),
      'rollout/entropy': noisy(interpolate(shapes.entropy, iteration)),
      'actor/grad_norm': rounded(gradient),
    };
    return JSON.stringify({ v: 1, type: 'iteration', seq: i, time: i, iteration, metrics });
  });
  const config = {
    version: 1,
    environments: [{ type: environment, config: {}, max_actions: 10 }],
    rollout: { groups: 8, group_size: 16 },
    advantage: { estimator },
  };
  writeFileSync(join(folder, 'run.json'), `${compactJson(config)}\n`);
  writeFileSync(join(folder, 'events.jsonl'), `${lines.join('\n')}\n`);
  writeFileSync(join(folder, 'label.json'), `${JSON.stringify({ collapsed: onset, kind: 'template' })}\n`);
}
