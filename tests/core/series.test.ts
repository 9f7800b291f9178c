import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Core } from '../../core/index.ts';
import { World } from './fixtures/world.ts';

/** A run of 10,000 iterations, resumed from iteration 9,000, with a spike at 4,321 and an evaluation every 1,000 iterations. */
const iterations = 10_000;
const resumedFrom = 9000;
const valueAt = (iteration: number) => (iteration === 4321 ? 99 : iteration % 10);
const timeAt = (seq: number) => 1_700_000_000_000 + 1000 * seq;

let world: World;
let core: Core;
const lines: string[] = [];
const add = (type: string, fields: object) => {
  const seq = lines.length;
  lines.push(JSON.stringify({ v: 1, seq, time: timeAt(seq), type, ...fields }));
};
const train = (from: number, to: number) => {
  for (let iteration = from; iteration <= to; iteration++) {
    add('iteration', { iteration, metrics: { 'rollout/reward_mean': valueAt(iteration), loss: iteration } });
    if (iteration % 1000 === 0)
      add('evaluation', { iteration, label: 'lake', metrics: { 'evaluation/lake/success_rate': 0.5 } });
  }
};
const trainer = {
  ...{ pid: 2 ** 30, host: 'elsewhere', build: 'fake', isa: 'avx2', device: 'cpu', threads: 1 },
  ...{ iterations, parameters: 1 },
};

beforeAll(async () => {
  world = new World();
  add('started', { resume: null, ...trainer });
  train(1, resumedFrom + 500);
  add('started', { resume: { iteration: resumedFrom }, ...trainer });
  train(resumedFrom + 1, iterations);
  world.run('long', lines);
  core = await world.core();
});
afterAll(() => world.close());

const runId = 'long';

test('series have the requested resolution and keep spikes, sums and both ends', async () => {
  const all = await core.history.reader.call('series', { runId, range: { resolution: 100 } });
  expect(all.map(({ name }) => name)).toEqual(['evaluation/lake/success_rate', 'loss', 'rollout/reward_mean']);
  const [success, loss, reward] = all;
  expect(success!.iterations).toEqual(Array.from({ length: 10 }, (_, index) => 1000 * (index + 1)));
  expect(success!.buckets!.counts).toEqual(Array(10).fill(1));
  expect(reward!.iterations).toEqual(loss!.iterations);
  const { counts, max } = reward!.buckets!;
  expect(counts.length).toBeLessThanOrEqual(102);
  expect(counts.reduce((sum, count) => sum + count)).toBe(iterations);
  expect(max.filter((value) => value === 99)).toHaveLength(1);
  expect([counts[0], reward!.values[0], counts.at(-1), reward!.values.at(-1)]).toEqual([1, 1, 1, 0]);
  const sum = loss!.values.reduce((total, mean, index) => total + mean * counts[index]!, 0);
  expect(sum).toBeCloseTo((iterations * (iterations + 1)) / 2, 3);
});

test('a range has a finer resolution, down to single points', async () => {
  const names = ['rollout/reward_mean'];
  const [finer] = await core.history.reader.call('series', {
    runId,
    range: {
      names,
      after: 4000,
      upTo: 5000,
      resolution: 100,
    },
  });
  expect(finer!.iterations[0]).toBe(4001);
  expect(finer!.iterations.at(-1)).toBe(5000);
  expect(Math.max(...finer!.buckets!.counts)).toBe(16);
  const [points] = await core.history.reader.call('series', {
    runId,
    range: {
      names,
      after: 4310,
      upTo: 4330,
      resolution: 100,
    },
  });
  expect(points).toEqual({
    name: names[0],
    iterations: Array.from({ length: 20 }, (_, index) => 4311 + index),
    values: Array.from({ length: 20 }, (_, index) => valueAt(4311 + index)),
  });
});

test('repeated iterations have the time of their last repetition', async () => {
  const { iterations: sampled, times } = await core.history.reader.call('times', runId);
  expect([sampled[0], times[0]]).toEqual([0, timeAt(0)]);
  expect([sampled.at(-1), times.at(-1)]).toEqual([iterations, timeAt(lines.length - 2)]);
  for (const column of [sampled, times]) expect(column.toSorted((a, b) => a - b)).toEqual(column);
  expect(sampled.length).toBeGreaterThan(1500);
  const repeated = sampled.findIndex((iteration) => iteration > resumedFrom);
  // The second trainer started after the first had trained 500 more iterations.
  expect(times[repeated]).toBeGreaterThan(timeAt(resumedFrom + 500));
});

test('series and times of an unknown run are empty', async () => {
  expect(await core.history.reader.call('series', { runId: 'unknown', range: { resolution: 100 } })).toEqual([]);
  expect(await core.history.reader.call('times', 'unknown')).toEqual({ iterations: [], times: [] });
});
