import type { Evaluation, RunSummary } from '../../core/contract/contract.ts';

/** A run that is trained, as core tells of it. */
export const runOf = (change: Partial<RunSummary> = {}): RunSummary => ({
  id: 'frozen-lake-7',
  name: 'FrozenLake 7',
  preset: 'starter-frozen-lake',
  task: 'reinforce',
  environments: ['frozen-lake'],
  algorithm: 'StarPO-S (PPO)',
  machine: null,
  status: 'running',
  iteration: 87,
  iterations: 200,
  createdAt: 7,
  startedAt: 7,
  endedAt: null,
  phase: null,
  etaSeconds: null,
  latest: {},
  failure: null,
  queuePosition: null,
  stalled: null,
  study: null,
  marks: { tags: [], note: '', starred: false, archived: false, name: '' },
  parent: null,
  trap: null,
  reaction: null,
  ...change,
});

/** An evaluation that has just begun. */
export const evaluationOf = (change: Partial<Evaluation> = {}): Evaluation => ({
  name: 'asked',
  state: 'running',
  time: 1,
  checkpoint: 40,
  label: 'frozen-lake',
  environment: 'frozen-lake',
  levels: 64,
  temperature: 0.5,
  seed: 123,
  changes: [],
  done: 0,
  etaSeconds: null,
  metrics: null,
  failure: null,
  ...change,
});
