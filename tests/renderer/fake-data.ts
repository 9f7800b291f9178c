import type {
  Device,
  LogLine,
  MemoryPlan,
  PresetCard,
  RunMarks,
  RunStorage,
  RunSummary,
  Series,
} from '../../core/contract/contract.ts';
import { publishedPresets } from '../../core/run-config/published-presets.ts';
import { random } from './fake-episodes.ts';

const now = Date.now() - 163_000;

export function seriesOf(run: RunSummary, upTo: number): Series[] {
  if (run.startedAt === null) return [];
  const draw = random(run.id.length * 7);
  const all = new Map<string, Series>();
  const put = (name: string, iteration: number, value: number) => {
    const series = all.get(name) ?? { name, iterations: [], values: [] };
    all.set(name, series);
    series.iterations.push(iteration);
    series.values.push(value);
  };
  for (let iteration = 0; iteration <= upTo; iteration++) {
    const learned = 1 - Math.exp(-iteration / 60);
    const noise = () => draw() - 0.5;
    if (iteration % 20 === 0) {
      const success = 0.42 + 0.33 * learned + noise() * 0.03;
      const metric = `evaluation/${run.environments[0]}/success_rate`;
      put(metric, iteration, success);
      put(`${metric}_low`, iteration, success - 0.06);
      put(`${metric}_high`, iteration, success + 0.06);
    }
    if (iteration === 0) continue;
    put('rollout/success_rate', iteration, 0.38 + 0.3 * learned + noise() * 0.16);
    put('rollout/reward_mean', iteration, 0.34 + 0.33 * learned + noise() * 0.16);
    put('rollout/reward_std_in_group', iteration, 0.44 - 0.12 * learned + noise() * 0.07);
    put(
      'rollout/zero_std_groups',
      iteration,
      Math.max(0, Math.round((0.06 + 0.22 * learned + noise() * 0.25) * 8) / 8),
    );
    put('rollout/entropy', iteration, 0.62 - 0.2 * learned + noise() * 0.03);
    put('actor/entropy', iteration, 0.63 - 0.2 * learned + noise() * 0.02);
    put('actor/grad_norm', iteration, 0.5 + 0.2 * draw());
    put('actor/grad_norm_max', iteration, 0.8 + 0.6 * draw());
    put('rollout/response_tokens', iteration, 96 - 20 * learned + noise() * 14);
    put('throughput/generated_tokens_per_second', iteration, 10400 + noise() * 1800);
    put('throughput/trained_tokens_per_second', iteration, 7200 + noise() * 900);
    put('rollout/format_valid_rate', iteration, 0.94 + 0.05 * learned);
    put('rollout/action_effective_rate', iteration, 0.8 + 0.1 * learned);
    put('rollout/turns', iteration, 2.6 - 0.4 * learned);
    put('rollout/pass_at_n', iteration, 0.9);
    put('rollout/distinct_first_thoughts', iteration, 0.71);
    put('filter/kept_groups', iteration, 4);
    put('actor/clip_fraction_high', iteration, 0.004);
    put('actor/approximate_kl', iteration, 0.0031);
    put('time/iteration', iteration, 2.1 + noise() * 0.3);
  }
  return [...all.values()];
}

export const log: LogLine[] = [
  { seq: 0, time: now, level: 'info', message: 'Trainer 0.1.0 on CPU (AVX2), 8 threads, 999680 parameters.' },
  { seq: 4, time: now + 4000, level: 'info', message: 'Evaluated 256 levels of frozen-lake: 42.2 % solved.' },
  {
    seq: 91,
    time: now + 61000,
    level: 'warning',
    message: '3 of 8 groups have no spread of rewards in iteration 23.',
  },
  { seq: 180, time: now + 120000, level: 'info', message: 'Checkpoint written after iteration 40.' },
];

const tasks = [
  {
    task: 'frozen-lake',
    title: 'FrozenLake',
    environments: [{ type: 'frozen-lake', config: {} }],
    summary: 'A million-parameter policy learns to cross a 4 x 4 lake, thinking before each move.',
    expects: '45 % to over 65 % solved levels in ten minutes',
    iterations: 200,
  },
  {
    task: 'frozen-lake-slippery',
    title: 'FrozenLake, slippery',
    environments: [{ type: 'frozen-lake', config: {} }],
    summary: 'Two moves of three slide sideways. The policy has to keep its distance from the holes.',
    expects: '25 % to 40 % solved levels; 48 % is the best possible',
    iterations: 200,
  },
  {
    task: 'sokoban',
    title: 'Sokoban',
    environments: [{ type: 'sokoban', config: {} }],
    summary: 'Push the box onto its target: a box in a corner never comes out again, so every push counts.',
    expects: '12 points more solved rooms',
    iterations: 200,
  },
  {
    task: 'bandit',
    title: 'Two-armed bandit',
    environments: [{ type: 'bandit', config: {} }],
    summary: 'One pull of one of two arms. The risky arm pays more on average, and the policy finds out.',
    expects: 'the high arm in at least 90 % of the pulls',
    iterations: 60,
  },
  {
    task: 'mixed',
    title: 'FrozenLake and Bandit',
    environments: [
      { type: 'frozen-lake', config: {} },
      { type: 'bandit', config: {} },
    ],
    summary: 'Three quarters of the groups cross the lake, one quarter chooses an arm.',
    expects: 'both environments learned by one policy',
    iterations: 200,
  },
];

const algorithms = [
  {
    suffix: 'starpo-s',
    algorithm: 'StarPO-S (PPO)',
    baseline: false,
    method:
      'Trains on the groups whose rewards differ most and clips higher above; a critic says what to expect.',
  },
  {
    suffix: 'ppo',
    algorithm: 'StarPO (PPO)',
    baseline: true,
    method:
      'Trains on every group with a critic and a small penalty for leaving the start; more prone to collapse.',
  },
  {
    suffix: 'grpo-s',
    algorithm: 'StarPO-S (GRPO)',
    baseline: false,
    method: 'Trains on the groups whose rewards differ most; an episode is compared with its group.',
  },
  {
    suffix: 'grpo',
    algorithm: 'StarPO (GRPO)',
    baseline: true,
    method: 'Trains on every group, without a critic; more prone to collapse.',
  },
];

const starters: PresetCard[] = tasks.flatMap((task) =>
  algorithms.map(({ suffix, ...algorithm }) => ({
    ...task,
    ...algorithm,
    id: `starter-${task.task}-${suffix}`,
    alias: suffix === 'starpo-s' ? `starter-${task.task}` : null,
    expects: algorithm.baseline ? 'a level to compare with' : task.expects,
    model: null,
    deviceBytes: null,
  })),
);

/** The presets of published models are those that there are. */
const published: PresetCard[] = publishedPresets.map(({ config, hidden: _, ...card }) => ({
  ...card,
  environments: config.environments.map(({ type, config }) => ({ type, config })),
  iterations: config.iterations,
}));

export const presets: PresetCard[] = [...starters, ...published];

export const processor: Device = { id: 'cpu', name: 'CPU (AVX2)', available: true, reason: null };
export const gpu: Device = {
  id: 'cuda:0',
  name: 'NVIDIA H100 80GB HBM3',
  available: true,
  reason: null,
  memory_bytes: 85e9,
};
export const oldGpu: Device = {
  ...gpu,
  available: false,
  reason: 'its driver is 550, and CUDA 13 wants 580 or newer',
};

/** RAGEN's default with the smallest model on one H100. */
export const memoryPlan: MemoryPlan = {
  device: 'cuda:0',
  device_bytes: 85e9,
  free_bytes: 84.4e9,
  total_bytes: 29.4e9,
  parts: [
    { name: 'policy', lifetime: 'run', bytes: 8.9e9 },
    { name: 'critic', lifetime: 'run', bytes: 8.9e9 },
    { name: 'kv_cache', lifetime: 'rollout', bytes: 5.7e9 },
    { name: 'activations', lifetime: 'update', bytes: 9.3e9 },
    { name: 'logits', lifetime: 'update', bytes: 1.2e9 },
    { name: 'workspace', lifetime: 'run', bytes: 1.1e9 },
  ],
};

export function sampleRuns(): RunSummary[] {
  const base: RunSummary = {
    id: 'frozen-lake-7',
    name: 'FrozenLake 7',
    preset: 'starter-frozen-lake',
    task: 'reinforce',
    environments: ['frozen-lake'],
    status: 'running',
    iteration: 87,
    iterations: 200,
    createdAt: now,
    startedAt: now,
    endedAt: null,
    phase: { name: 'rollout', iteration: 88, done: 74, total: 128 },
    etaSeconds: 252,
    latest: {
      'evaluation/frozen-lake/success_rate': 0.668,
      'rollout/success_rate': 0.594,
      'rollout/reward_mean': 0.57,
    },
    failure: null,
    queuePosition: null,
    stalled: null,
    marks: { tags: [], note: '', starred: false, archived: false },
  };
  const marks = (change: Partial<RunMarks>): { marks: RunMarks } => ({ marks: { ...base.marks, ...change } });
  const past = (minutes: number) => ({
    createdAt: now - minutes * 60000,
    startedAt: now - minutes * 60000,
    endedAt: now - minutes * 60000 + 431000,
    phase: null,
    etaSeconds: null,
  });
  const waiting = { iteration: 0, startedAt: null, endedAt: null, latest: {}, status: 'queued' as const };
  return [
    base,
    { ...base, ...past(4), ...waiting, id: 'slippery-9', name: 'FrozenLake slippery 9', queuePosition: 2 },
    { ...base, ...past(5), ...waiting, id: 'bandit-8', name: 'Bandit 8', queuePosition: 1 },
    {
      ...base,
      ...past(9),
      id: 'slippery-6',
      name: 'FrozenLake slippery 6',
      preset: 'starter-frozen-lake-slippery',
      status: 'paused',
      endedAt: null,
      iteration: 41,
      phase: { name: 'update', iteration: 42, done: 1, total: 2 },
    },
    {
      ...base,
      ...past(40),
      ...marks({ starred: true, tags: ['baseline', 'seed 1'], note: 'The one in the report.' }),
      id: 'bandit-5',
      name: 'Bandit 5',
      preset: 'starter-bandit',
      environments: ['bandit'],
      status: 'completed',
      iteration: 60,
      iterations: 60,
      latest: { 'evaluation/bandit/success_rate': 0.957, 'rollout/success_rate': 0.94 },
    },
    {
      ...base,
      ...past(90),
      id: 'frozen-lake-4',
      name: 'FrozenLake 4',
      status: 'failed',
      iteration: 12,
      failure: {
        code: 'non_finite_gradient',
        message: 'The gradient of iteration 13 is not finite.',
        hint: 'Lower optimizer.learning_rate (1e-3 is known to break this policy) and start a new run.',
      },
    },
    {
      ...base,
      ...past(150),
      id: 'frozen-lake-3',
      name: 'FrozenLake 3',
      preset: 'starter-frozen-lake-grpo',
      status: 'interrupted',
      iteration: 104,
    },
    {
      ...base,
      ...past(200),
      id: 'frozen-lake-2',
      name: 'FrozenLake 2',
      status: 'stopped',
      iteration: 20,
      ...marks({ archived: true }),
    },
    {
      ...base,
      ...past(260),
      id: 'frozen-lake-1',
      name: 'FrozenLake 1',
      status: 'created',
      iteration: 0,
      startedAt: null,
      endedAt: null,
      latest: {},
    },
  ];
}

export const storage: RunStorage = {
  rollouts: 41e6,
  checkpoints: 62.5e6,
  journal: 0.9e6,
  other: 5200,
  total: 104.4e6,
  budget: null,
  expected: 190e6,
  free: 212e9,
  warnings: [],
};
