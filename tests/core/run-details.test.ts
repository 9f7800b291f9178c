import { appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readRewards } from '../../core/history/rewards.ts';
import { readTimeline, spansOf } from '../../core/history/timeline.ts';
import { parseEvent } from '../../core/run-directory/events.ts';
import { readJournalRange } from '../../core/run-directory/journal-range.ts';
import { settingsOfRuns } from '../../core/runs/settings-of-runs.ts';
import { fakeRollout } from './fixtures/fake-rollout.mjs';
import { World } from './fixtures/world.ts';

/** Returns lines with these events, 1 s apart. */
function journalOf(events: readonly [type: string, fields: object][]): string[] {
  return events.map(([type, fields], seq) => JSON.stringify({ v: 1, seq, time: seq * 1000, type, ...fields }));
}
const phase = (name: string, iteration: number, done = 0): [string, object] => [
  'phase',
  { name, iteration, done, total: 2 },
];
const iterated = (iteration: number, metrics: object = {}): [string, object] => ['iteration', { iteration, metrics }];
const began = (iteration: number | null): [string, object] => [
  'started',
  {
    resume: iteration === null ? null : { checkpoint: 'checkpoints/000001', iteration },
    iteration: iteration ?? 0,
    ...{ pid: 1, host: 'a', build: 'b', isa: 'avx2', device: 'cpu', threads: 1, iterations: 9, parameters: 1 },
  },
];
const spans = (events: readonly [string, object][]) =>
  spansOf(journalOf(events).map((line) => parseEvent(line)!)).map(
    ({ name, iteration, start, end }) => `${name} ${iteration}: ${start / 1000} to ${end / 1000}`,
  );

test('a phase ends when another begins, and writing ends with its event', () => {
  expect(
    spans([
      phase('rollout', 1),
      phase('rollout', 1, 1),
      phase('filter', 1),
      phase('update', 1),
      ['rollout', { iteration: 1, split: 'train', file: 'a', index: 'b', episodes: 2 }],
      phase('update', 1, 2),
      iterated(1, { 'time/write': 0.5 }),
      phase('evaluate', 1),
      ['evaluation', { iteration: 1, label: 'lake', metrics: {} }],
      phase('checkpoint', 1),
      ['checkpoint', { iteration: 1, path: 'c' }],
    ]),
  ).toEqual([
    'rollout 1: 0 to 2',
    'filter 1: 2 to 3',
    'update 1: 3 to 6',
    'write 1: 3.5 to 4',
    'evaluate 1: 7 to 9',
    'checkpoint 1: 9 to 10',
  ]);
});

test('the timeline omits pauses and iterations that a resumed run repeats', () => {
  const pausing = [phase('rollout', 2), ['paused', { iteration: 1 }], ['resumed', { iteration: 1 }], iterated(2)];
  expect(spans(pausing as [string, object][])).toEqual(['rollout 2: 0 to 1', 'rollout 2: 2 to 3']);
  expect(
    spans([
      phase('rollout', 1),
      iterated(1),
      phase('rollout', 2),
      iterated(2),
      began(1),
      phase('rollout', 2),
      iterated(2),
    ]),
  ).toEqual(['rollout 1: 0 to 1', 'rollout 2: 5 to 6']);
});

test('a range of a large journal is found by its seq, with invalid lines left out', () => {
  const folder = mkdtempSync(join(tmpdir(), 'starpo-journal-'));
  const path = join(folder, 'events.jsonl');
  const events: [string, object][] = Array.from({ length: 9000 }, (_, seq) => [
    'log',
    { level: 'info', message: seq % 100 === 0 ? 'x'.repeat(3000) : 'short' },
  ]);
  writeFileSync(path, journalOf(events).join('\ngarbage\n'));
  appendFileSync(path, '\n{"v":1,"se');
  const seqs = (from: number, to: number) => readJournalRange(path, from, to).map(({ seq }) => seq);
  expect(seqs(0, 1)).toEqual([0, 1]);
  expect(seqs(4567, 4569)).toEqual([4567, 4568, 4569]);
  expect(seqs(8998, 99_999)).toEqual([8998, 8999]);
  rmSync(folder, { recursive: true });
});

let world: World;
beforeEach(() => {
  world = new World();
});
afterEach(() => world.close());

test('the timeline of an iteration has its neighbors; an imported run has none', async () => {
  const events = [1, 2, 3, 4, 5].flatMap((at) => [phase('rollout', at), phase('update', at), iterated(at)]);
  world.run('phased', journalOf([began(null), ...events]));
  world.run('imported', journalOf([began(null), iterated(1)]));
  const core = await world.core();
  const timeline = (iteration?: number, runId = 'phased') => readTimeline(core.database, world.home, runId, iteration);
  expect(timeline()).toMatchObject({ iteration: 5, first: 1, last: 5 });
  expect(timeline(3)!.spans.map(({ name, iteration }) => `${name} ${iteration}`)).toEqual(
    [2, 3, 4].flatMap((at) => [`rollout ${at}`, `update ${at}`]),
  );
  expect(timeline(99)).toMatchObject({ iteration: 5 });
  expect(timeline(undefined, 'imported')).toBeNull();
});

test('rewards are counted per iteration, in bins that are centered on round numbers', async () => {
  const folder = world.run('played');
  mkdirSync(join(folder, 'rollouts'));
  const lake = { type: 'frozen-lake', label: 'frozen-lake' };
  const written = [1, 2].map((at) => fakeRollout(folder, {}, at, 'train', lake, 2, 3));
  const evaluated = fakeRollout(folder, {}, 2, 'frozen-lake', lake, 4, 1);
  const lines = journalOf([began(null), ...[...written, evaluated].map((each): [string, object] => ['rollout', each])]);
  writeFileSync(join(folder, 'events.jsonl'), `${lines.join('\n')}\n`);
  const core = await world.core();
  expect(readRewards(core.database, 'played')).toMatchObject({ bins: 0, iterations: [] });
  await core.episodeIndex.indexAll();
  const { first, step, bins, iterations } = readRewards(core.database, 'played');
  expect({ first, step, bins }).toEqual({ first: 0, step: 0.05, bins: 21 });
  // Every third episode fails.
  for (const { counts } of iterations) expect([counts[0], counts[20]]).toEqual([2, 4]);
  expect(iterations.map(({ iteration, counts }) => [iteration, counts.reduce((sum, each) => sum + each, 0)])).toEqual([
    [1, 6],
    [2, 6],
  ]);
});

test('the settings of all runs are read by column, without runs whose run.json is invalid', async () => {
  for (const id of ['a', 'b', 'broken']) world.run(id);
  const put = (id: string, config: unknown) =>
    writeFileSync(join(world.home, 'runs', id, 'run.json'), JSON.stringify(config));
  put('a', { seed: 1, optimizer: { learning_rate: 3e-4 }, environments: [{ config: { size: 4 } }] });
  put('b', { seed: 2, rollout: { think: true } });
  writeFileSync(join(world.home, 'runs/broken/run.json'), '{');
  expect(await settingsOfRuns(world.home, ['a', 'b', 'broken'])).toEqual({
    runIds: ['a', 'b'],
    settings: [
      { path: 'seed', values: [1, 2] },
      { path: 'optimizer.learning_rate', values: [3e-4, null] },
      { path: 'environments.0.config.size', values: [4, null] },
      { path: 'rollout.think', values: [null, true] },
    ],
  });
});
