import { copyFileSync, mkdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { Targets } from '../../core/cluster/targets.ts';
import { episodeSummary } from '../../core/contract/contract.ts';
import { toReplay } from '../../core/environments/replay.ts';
import { finishedEvaluation } from '../../core/evaluations/describe.ts';
import { validateConfig } from '../../core/run-config/validate.ts';
import { type Annotation, parseAnnotation } from '../../core/run-directory/annotations.ts';
import { episode } from '../../core/run-directory/episode.ts';
import { evaluationResult } from '../../core/run-directory/evaluations.ts';
import { eventTypes, parseEvent } from '../../core/run-directory/events.ts';
import { evaluationMetricNames, metricNames } from '../../core/run-directory/metrics.ts';
import { QueueFile } from '../../core/run-sync/queue-file.ts';
import { StudyFiles } from '../../core/run-sync/study-files.ts';
import { World } from './fixtures/world.ts';

const examples = resolve(import.meta.dirname, '../../docs/formats/examples');
const text = (name: string) => readFileSync(join(examples, name), 'utf8');
const example = (name: string) => JSON.parse(text(name));

test('the episode example is valid and can be replayed', () => {
  const parsed = episode.parse(example('episode.json'));
  const { frames, turns, summary } = toReplay(parsed);
  expect(frames).toHaveLength(1 + summary.actions);
  expect(turns).toHaveLength(summary.turns);
  expect(turns[0]).toMatchObject({ terms: [], claims: { checked: 10 } });
  const { think, claims } = turns[0]!;
  expect(claims!.false.map(({ start, end }) => think!.slice(start, end))).toEqual(['hole 3,3', 'safe path']);
});

test('the rollout index example lists episodes with their offsets in the file', () => {
  const index = example('rollout.index.json');
  for (const entry of index.episodes) expect(episodeSummary.parse(entry).id).toBe(entry.id);
  expect(index.episodes[1].offset).toBe(index.episodes[0].length);
});

test('the metrics example contains only defined metrics', () => {
  const isEvaluation = (name: string) =>
    name.startsWith('evaluation/') && (evaluationMetricNames as readonly string[]).includes(name.split('/')[2] ?? '');
  // `<...>` is a placeholder.
  const isDefined = (name: string) =>
    metricNames.some((each) => (each.endsWith('>') ? name.startsWith(each.replace(/<.*/, '')) : name === each));
  const undefinedNames = Object.keys(example('metrics.json')).filter((name) => !isDefined(name) && !isEvaluation(name));
  expect(undefinedNames).toEqual([]);
});

test('the evaluation example is valid and has every evaluation metric of its label', () => {
  const { metrics, environment, name, file } = evaluationResult.parse(example('evaluation.json'));
  const names = evaluationMetricNames.map((metric) => `evaluation/${environment.label}/${metric}`);
  expect(Object.keys(metrics).sort()).toEqual(names.sort());
  expect(file).toBe(`evaluations/${name}.jsonl.zst`);
});

test('the journal example is valid and has every event type', () => {
  const events = text('events.jsonl').trimEnd().split('\n').map(parseEvent);
  expect(events).not.toContain(null);
  expect([...new Set(events.map((event) => event!.type))].sort()).toEqual([...eventTypes].sort());
});

test('the annotations example is valid and has every annotation type', () => {
  const lines = text('annotations.jsonl').trimEnd().split('\n').map(parseAnnotation);
  expect(lines).not.toContain(null);
  const types = lines.map((line) => (line as Annotation).type);
  expect([...new Set(types)].sort()).toEqual([
    'action',
    'alert',
    'archive',
    'cleaned',
    'human_success',
    'name',
    'note',
    'rollbacks',
    'star',
    'start_failed',
    'tag',
  ]);
});

test('the queue example is valid', () => {
  const world = new World();
  copyFileSync(join(examples, 'queue.json'), join(world.home, 'queue.json'));
  const content = new QueueFile(world.home).content();
  world.close();
  expect(content).toEqual(example('queue.json'));
});

test('the example of targets is valid', () => {
  const world = new World();
  copyFileSync(join(examples, 'targets.json'), join(world.home, 'targets.json'));
  expect(new Targets(world.home).read()).toEqual(example('targets.json').targets);
  world.close();
});

test('the sweep example is valid and recognizes its runs', () => {
  const world = new World();
  mkdirSync(join(world.home, 'studies'));
  copyFileSync(join(examples, 'study.json'), join(world.home, 'studies/clip-width-4f2a.json'));
  const files = new StudyFiles(world.home);
  world.close();
  expect(files.of('clip-width-4f2a-p2-s3')).toEqual({
    ...{ id: 'clip-width-4f2a', name: 'Clip width', point: 'wide', seed: 3 },
  });
  for (const other of ['clip-width-4f2a-p3-s3', 'clip-width-4f2a-p2-s4', 'clip-width-p2-s3', 'another'])
    expect(files.of(other)).toBeNull();
  expect(validateConfig(example('study.json').config).iterations).toBe(40);
});

test('an evaluation passes on its warnings as sentences', () => {
  const result = evaluationResult.parse(example('evaluation.json'));
  expect(finishedEvaluation(null, { ...result, warnings: [] })).not.toHaveProperty('warnings');
  const warnings = ['the environment own failed in 2 of 10 episodes'];
  expect(finishedEvaluation(null, { ...result, warnings }).warnings).toEqual([
    'The environment own failed in 2 of 10 episodes.',
  ]);
});
