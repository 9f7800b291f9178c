import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { baseConfig } from '../../core/presets/base.ts';

/** Generates data folders as after years of use: real run directories with invented figures. */

const start = Date.UTC(2026, 0, 1);

const line = (seq: number, time: number, type: string, fields: object) =>
  `${JSON.stringify({ v: 1, seq, time, type, ...fields })}\n`;

/** Means of the Echo Trap monitor's metrics for a healthy run. */
const judged = {
  'rollout/success_rate': 0.6,
  'rollout/reward_mean': 0.6,
  'rollout/reward_std_in_group': 0.4,
  'rollout/zero_std_groups': 0.2,
  'rollout/zero_std_solved': 0.1,
  'rollout/zero_std_failed': 0.1,
  'rollout/entropy': 0.25,
  'rollout/template_share': 0.3,
  'rollout/distinct_first_thoughts': 0.6,
  'rollout/first_action_dependence': 0.8,
  'rollout/format_valid_rate': 0.98,
  'rollout/response_tokens': 60,
  'actor/grad_norm_max': 0.5,
};

/** Returns metric values; by default about as many as a starter run has. */
export const metrics = (iteration: number, count = 40, shift = 0) => ({
  ...Object.fromEntries(
    Array.from({ length: count - Object.keys(judged).length }, (_, index) => [
      `group${index % 5}/metric_${index}`,
      Math.sin(iteration + index + shift),
    ]),
  ),
  ...Object.fromEntries(
    Object.entries(judged).map(([name, mean]) => [name, mean * (1 + 0.02 * Math.sin(iteration + shift))]),
  ),
});

export interface RunPlan {
  iterations: number;
  /** Phase events per iteration. */
  phases: number;
  /** Milliseconds between events. */
  pace: number;
  metrics?: number;
  /** Makes the run's values differ from other runs'. */
  shift?: number;
}

/** Ten hours with four phases per second: 144,601 events. */
export const tenHours: RunPlan = { iterations: 600, phases: 240, pace: 250 };
export const brief: RunPlan = { iterations: 10, phases: 8, pace: 250 };

/** Writes a completed run's directory and returns the number of journal events. */
export function writeRun(
  home: string,
  runId: string,
  { iterations, phases, pace, metrics: count, shift }: RunPlan,
): number {
  const folder = join(home, 'runs', runId);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'run.json'), JSON.stringify({ ...baseConfig, iterations }));
  let seq = 0;
  const add = (type: string, fields: object) => line(seq, start + pace * seq++, type, fields);
  const pieces = [
    add('started', {
      resume: null,
      pid: 2 ** 30,
      host: 'elsewhere',
      build: 'invented',
      isa: 'avx2',
      device: 'cpu',
      threads: 2,
      iterations,
      parameters: 1_000_000,
    }),
  ];
  for (let iteration = 1; iteration <= iterations; iteration++) {
    for (let done = 1; done <= phases; done++)
      pieces.push(add('phase', { name: 'rollout', iteration, done, total: phases }));
    pieces.push(add('iteration', { iteration, metrics: metrics(iteration, count, shift), updates: {} }));
  }
  pieces.push(add('stopped', { reason: 'completed', iteration: iterations }));
  writeFileSync(join(folder, 'events.jsonl'), pieces.join(''));
  return seq;
}

/** Writes a completed run with one metric: noise with a one-iteration spike per thousand. */
export function writeLongRun(home: string, runId: string, iterations: number): void {
  const folder = join(home, 'runs', runId);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'run.json'), JSON.stringify({ ...baseConfig, iterations }));
  const journal = join(folder, 'events.jsonl');
  writeFileSync(journal, '');
  for (let from = 1; from <= iterations; from += 10_000) {
    const lines = Array.from({ length: Math.min(10_000, iterations - from + 1) }, (_, index) => {
      const iteration = from + index;
      const value = iteration % 1000 === 0 ? 3 : Math.sin(iteration / 1e5) + 0.2 * Math.sin(iteration * 12.9898);
      const metrics = { 'rollout/reward_mean': value };
      return line(iteration - 1, start + 100 * iteration, 'iteration', { iteration, metrics });
    });
    appendFileSync(journal, lines.join(''));
  }
}

/** Returns a log line of about a kilobyte. */
export const logLine = (seq: number) => line(seq, start + seq, 'log', { level: 'info', message: 'x'.repeat(1000) });
