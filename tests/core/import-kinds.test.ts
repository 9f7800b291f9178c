import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { tfRecord } from '../../core/base/tf-record.ts';
import type { ExportFormat, ImportSource } from '../../core/contract/contract.ts';
import { metricsCsv, metricsJsonLines } from '../../core/exports/metrics-files.ts';
import { eventsAfter, readSeries } from '../../core/history/queries.ts';
import { inspectFiles } from '../../core/imports/inspect.ts';
import type { Core } from '../../core/index.ts';
import { starpoHere } from './fixtures/command.ts';
import { importFile } from './fixtures/import-file.ts';
import { World } from './fixtures/world.ts';

const fixture = (name: string) => join(import.meta.dirname, 'fixtures/imports', name);

/** Inspects files without a data folder. */
const inspect = (...names: string[]) =>
  inspectFiles(names.map((name) => ({ name: name.slice(name.lastIndexOf('/') + 1), path: name })));

describe('recognizing what to import', { timeout: 60_000 }, () => {
  let world: World;
  beforeEach(() => {
    world = new World();
  });
  afterEach(() => world.close());

  const write = (name: string, content: string | Uint8Array) => {
    const path = join(world.folder, name);
    mkdirSync(join(path, '..'), { recursive: true });
    writeFileSync(path, content);
    return path;
  };
  const mappedIn = async (path: string) => {
    const [run] = await inspect(path);
    expect(run!.problem).toBeNull();
    return { ...run!, names: Object.fromEntries(run!.mapped.map(({ name, column }) => [name, column])) };
  };
  /** Imports a file and returns the values of its metrics by step. */
  async function imported(path: string) {
    const { runId } = await importFile(world.home, path);
    const core = await world.core();
    const series = readSeries(core.database, runId).map(({ name, iterations, values }) => [
      name,
      { points: iterations.map((step, index) => [step, values[index]]), times: timesOf(core, runId) },
    ]);
    return Object.fromEntries(series) as Record<string, { points: number[][]; times: number[] }>;
  }
  const timesOf = ({ database }: Core, runId: string) =>
    eventsAfter(database, runId, -1).flatMap(({ type, time }) => (type === 'iteration' ? [time] : []));

  test("reads verl's file logger, whose metrics are nested below the step", async () => {
    const run = await mappedIn(fixture('verl-file-logger.jsonl'));
    expect(run).toMatchObject({ kind: 'json', from: 'verl', steps: 3, unmapped: [] });
    expect(run.names).toEqual({
      'rollout/entropy': 'actor/entropy',
      'actor/grad_norm': 'actor/grad_norm',
      'actor/loss': 'actor/pg_loss',
      'rollout/reward_mean': 'critic/score/mean',
      'rollout/response_tokens': 'response_length/mean',
      'evaluation/openai-gsm8k/success_rate': 'val-core/openai/gsm8k/acc/mean@1',
    });
    const series = await imported(fixture('verl-file-logger.jsonl'));
    expect(series['rollout/reward_mean']!.points).toEqual([
      [0, 0],
      [1, 0.1],
      [2, 0.2],
    ]);
    expect(series['evaluation/openai-gsm8k/success_rate']!.points).toEqual([[0, 0.4]]);
  });

  test("reads verl's console output with Ray's prefix, colors and NumPy's numbers", async () => {
    const path = write(
      'train.log',
      [
        'INFO starting step:one',
        '\u001b[36m(TaskRunner pid=71)\u001b[0m step:1 - critic/score/mean:np.float64(0.25) - actor/grad_norm:nan - val-core/a:b/acc/mean@1:0.5',
        '(TaskRunner pid=71) step:2 - critic/score/mean:0.5 - actor/grad_norm:1e-3',
        'done',
      ].join('\r\n'),
    );
    expect(await mappedIn(path)).toMatchObject({ kind: 'console', from: 'verl', steps: 2 });
    const series = await imported(path);
    expect(series['rollout/reward_mean']!.points).toEqual([
      [1, 0.25],
      [2, 0.5],
    ]);
    expect(series['actor/grad_norm']!.points).toEqual([[2, 0.001]]);
    expect(series['evaluation/a-b/success_rate']!.points).toEqual([[1, 0.5]]);
  });

  // Written by tensorboardX 2.6.5, and by tensorboard 2.21.0 with tensors as TensorFlow 2 logs them.
  test('reads event files of tensorboardX and TensorFlow 2', async () => {
    const run = await mappedIn(fixture('tensorboardX-2.6.tfevents'));
    expect(run).toMatchObject({ kind: 'tensorboard', from: 'verl', steps: 3 });
    expect(run.remarks).toContain('2 values skipped: texts, images, histograms and others that are not scalars.');
    const series = await imported(fixture('tensorboardX-2.6.tfevents'));
    expect(series['rollout/reward_mean']).toEqual({
      points: [
        [0, 0],
        [1, Math.fround(0.1)],
        [2, Math.fround(0.2)],
      ],
      times: [1_700_000_000_000, 1_700_000_001_000, 1_700_000_002_000],
    });
    expect(series['evaluation/openai-gsm8k/success_rate']!.points).toEqual([[0, Math.fround(0.4)]]);
    await world.end();
    const tensors = await imported(fixture('tensorboard-2.21-tensors.tfevents'));
    expect(tensors['rollout/reward_mean']!.points).toEqual([
      [0, 0],
      [1, 0.25],
      [2, 0.5],
    ]);
  });

  test('reads a truncated event file up to its end, and rejects a damaged one', async () => {
    const bytes = readFileSync(fixture('tensorboardX-2.6.tfevents'));
    const [cut] = await inspect(write('cut.tfevents', bytes.subarray(0, -5)));
    expect(cut).toMatchObject({
      problem: null,
      remarks: expect.arrayContaining(['The last row is truncated and was skipped.']),
    });
    bytes[bytes.length - 40]! ^= 1;
    const [damaged] = await inspect(write('damaged.tfevents', bytes));
    expect(damaged!.problem).toMatchObject({
      code: 'import_malformed',
      message: expect.stringMatching(/byte \d+ doesn't match its checksum/),
    });
    const [invalid] = await inspect(write('invalid.tfevents', tfRecord(Buffer.from([0xff, 0xff, 0xff]))));
    expect(invalid!.problem).toMatchObject({ code: 'import_malformed' });
  });

  // Written by wandb 0.30.0 in offline mode.
  test("reads W&B's local run files", async () => {
    const run = await mappedIn(fixture('wandb-0.30.wandb'));
    expect(run).toMatchObject({ kind: 'wandb', from: 'ragen', name: 'lake seed 1', steps: 4 });
    const series = await imported(fixture('wandb-0.30.wandb'));
    expect(series['rollout/success_rate']!.points).toEqual([
      [0, 0],
      [1, 0.125],
      [2, 0.25],
      [3, 0.375],
    ]);
    expect(series['actor/grad_norm']!.points).toHaveLength(3);
    expect(series['ragen/nested.a']!.points.at(-1)).toEqual([3, 3]);
    expect(series['evaluation/coordfrozenlake/success_rate']!.points).toEqual([
      [0, 0.5],
      [2, 0.5],
    ]);
  });

  // MLflow's file store and database as its sources define them (mlflow/store/tracking/file_store.py and dbmodels/models.py).
  test('reads the folders and the database of MLflow, also with several runs', async () => {
    const line = (step: number, value: string) => `${1_700_000_000_000 + step} ${value} ${step}\n`;
    for (const [run, value] of [
      ['a1', '0.25'],
      ['b2', '0.5'],
    ]) {
      write(`mlruns/0/${run}/meta.yaml`, `run_id: ${run}\nrun_name: 'seed ${run}'\n`);
      write(`mlruns/0/${run}/metrics/critic/score/mean`, line(1, value!) + line(2, 'nan'));
      write(`mlruns/0/${run}/metrics/val-core/gsm8k/acc/mean_at_1`, line(1, '1.0'));
      write(`mlruns/0/${run}/artifacts/model.bin`, 'x');
    }
    const listed = await starpoHere(
      ['import', join(world.folder, 'mlruns'), '--dry-run', '--json'],
      world.environment(),
    );
    expect({ status: listed.status, errors: listed.errors }).toEqual({ status: 0, errors: '' });
    const runs = JSON.parse(listed.output);
    expect(runs.map(({ name, kind, from }: never) => [name, kind, from])).toEqual([
      ['seed a1', 'mlflow', 'verl'],
      ['seed b2', 'mlflow', 'verl'],
    ]);
    expect(runs[1].mapped).toEqual([
      { name: 'rollout/reward_mean', column: 'critic/score/mean' },
      { name: 'evaluation/gsm8k/success_rate', column: 'val-core/gsm8k/acc/mean_at_1' },
    ]);
    const path = join(world.folder, 'mlflow.db');
    const database = new Sqlite(path);
    database.exec(`CREATE TABLE runs (run_uuid VARCHAR, name VARCHAR, lifecycle_stage VARCHAR);
      CREATE TABLE metrics ("key" VARCHAR, value FLOAT, timestamp BIGINT, run_uuid VARCHAR, step BIGINT, is_nan BOOLEAN);
      INSERT INTO runs VALUES ('c3', 'seed c3', 'active'), ('d4', 'deleted', 'deleted');
      INSERT INTO metrics VALUES ('critic/score/mean', 0.75, 1700000000000, 'c3', 1, 0), ('actor/grad_norm', 0, 1700000000000, 'c3', 1, 1),
        ('actor/loss', 1.7976931348623157e308, 1700000000000, 'c3', 1, 0), ('system/cpu', 50, 1700000000000, 'c3', 30, 0),
        ('critic/score/mean', 0.5, 1700000000000, 'd4', 1, 0);`);
    database.close();
    expect(await inspect(path)).toHaveLength(1);
    const series = await imported(path);
    expect(series['rollout/reward_mean']).toEqual({ points: [[1, 0.75]], times: [1_700_000_000_000] });
    expect(Object.keys(series)).toEqual(['rollout/reward_mean']);
    const [other] = await inspect(write('other.db', readFileSync(path).fill(0, 100)));
    expect(other!.problem).toMatchObject({ code: 'import_malformed' });
  });

  test("reads MLflow's metric history as JSON and as CSV with one row per value", async () => {
    const points = [1, 2].map((step) => ({
      key: 'critic/score/mean',
      value: step / 4,
      timestamp: 1_700_000_000_000,
      step,
    }));
    const json = await imported(write('history.json', JSON.stringify({ metrics: points })));
    await world.end();
    const rows = points.map(({ key, value, timestamp, step }) => `a,${key},${step},${timestamp},${value}`);
    const csv = await imported(write('history.csv', ['Run,metric,step,timestamp,value', ...rows].join('\n')));
    for (const series of [json, csv])
      expect(series['rollout/reward_mean']!.points).toEqual([
        [1, 0.25],
        [2, 0.5],
      ]);
  });

  describe.each(['reward', 'length', 'entropy'])('RAGEN with a filter by %s', (measure) => {
    const header = ['_step', 'train/FrozenLake/success', 'critic/score/mean'];
    const plain = [
      'rollout/in_group_std',
      'rollout/in_group_max',
      'rollout/in_group_mean',
      'rollout/chosen_in_group_std',
    ];
    const table = (names: string[]) =>
      write('ragen.csv', `${[...header, ...names].join(',')}\n1,0.5,0.25,${names.map(() => 312).join(',')}\n`);

    test('maps the names that include what is measured, never the others', async () => {
      const named = plain.map((name) => name.replace('in_group_', `in_group_${measure}_`));
      const run = await mappedIn(table([...plain, ...named]));
      expect(run.from).toBe('ragen');
      expect(run.unmapped).toEqual(expect.arrayContaining(plain));
      const rewards = {
        'rollout/reward_std_in_group': 'rollout/in_group_reward_std',
        'rollout/reward_max_in_group': 'rollout/in_group_reward_max',
        'rollout/reward_mean': 'rollout/in_group_reward_mean',
        'filter/kept_reward_std': 'rollout/chosen_in_group_reward_std',
      };
      expect(run.names).toEqual({
        'rollout/success_rate': 'train/FrozenLake/success',
        ...(measure === 'reward' ? rewards : { 'rollout/reward_mean': 'critic/score/mean' }),
      });
    });
  });

  test('reports its assumption if RAGEN does not log what its filter measures', async () => {
    const run = await mappedIn(write('old.csv', '_step,rollout/in_group_std\n1,0.5\n'));
    expect(run.names).toEqual({ 'rollout/reward_std_in_group': 'rollout/in_group_std' });
    expect(run.remarks).toEqual([
      '"rollout/in_group_std" is read as rollout/reward_std_in_group, which assumes that RAGEN filters by reward, not by length or entropy.',
    ]);
  });

  // Written by pandas 3.0.6 from a frame whose loss and gradient norm are NaN from step 5.
  test('reads the empty cells of pandas as NaN where other metrics have values', async () => {
    const path = fixture('pandas-nan.csv');
    const { remarks, from } = await mappedIn(path);
    expect(from).toBe('verl');
    expect(remarks).toEqual(
      ['actor/grad_norm', 'actor/pg_loss'].map(
        (column) =>
          `"${column}" has no value from step 5, where other metrics do. It is read as NaN, because pandas leaves cells with NaN empty.`,
      ),
    );
    const { runId } = await importFile(world.home, path);
    const core = await world.core();
    expect(await core.supervisor.trap(runId)).toMatchObject({ state: 'collapsing', since: 5 });
    const lines = Array.from({ length: 8 }, (_, step) =>
      JSON.stringify({ step, 'critic/score/mean': 0.5, ...(step < 4 ? { 'actor/grad_norm': 1 } : {}) }),
    );
    expect((await mappedIn(write('missing.jsonl', lines.join('\n')))).remarks).toEqual([]);
  });

  test.each<[ImportSource, string[]]>([
    ['ragen', ['train/Bandit/success', 'actor/pg_loss']],
    ['verl', ['critic/score/mean', 'actor/entropy']],
    ['trl', ['reward', 'completions/mean_length']],
    ['starpo', ['rollout/entropy', 'verl/actor/pg_clipfrac']],
    ['other', ['rollout/entropy', 'note']],
  ])('recognizes the names of %s', async (from, columns) => {
    const [run] = await inspect(write('table.csv', `step,${columns.join(',')}\n1,${columns.map(() => 1).join(',')}\n`));
    expect(run).toMatchObject({ from, problem: null });
  });

  test("reads verl's validation before training, which has no global step", async () => {
    const lines = [
      'step:0 - val-core/gsm8k/acc/mean@1:0.31',
      ...[1, 2].map((step) => `step:${step} - training/global_step:${step} - critic/score/mean:0.5`),
    ];
    const series = await imported(write('verl.log', `[W1126 socket.cpp:464] a warning\n${lines.join('\n')}\n`));
    expect(series['evaluation/gsm8k/success_rate']!.points).toEqual([[0, 0.31]]);
    expect(series['rollout/reward_mean']!.points).toEqual([
      [1, 0.5],
      [2, 0.5],
    ]);
  });

  test('reads quoted cells with mixed line endings', async () => {
    const series = await imported(write('mixed.csv', '"step","success"\r\n"1","0.25"\n"2","0.5"\n'));
    expect(series['rollout/success_rate']!.points).toEqual([
      [1, 0.25],
      [2, 0.5],
    ]);
  });

  test('names the line that is not valid JSON', async () => {
    const [run] = await inspect(write('lines.jsonl', '{"step":1,"success":0}\n\n\n{"step":\n{"step":2,"success":0}\n'));
    expect(run!.problem!.message).toContain('line 4 is not valid JSON');
  });

  test('rejects a success rate in percent', async () => {
    const [run] = await inspect(write('percent.csv', 'step,success_rate,entropy\n1,0.5,1\n2,79.5,1\n'));
    expect(run!.problem).toMatchObject({
      code: 'import_not_a_share',
      message: 'Column "success_rate" is a success rate, but has the value 79.5, which is not from 0 to 1.',
    });
  });

  test('counts the steps of each run, if a table has runs of different lengths', async () => {
    const table = 'Step,a - actor/grad_norm,b - actor/grad_norm\n1,0.1,0.2\n2,0.1,\n3,0.1,\n';
    const found = await inspect(write('wandb.csv', table));
    expect(found.map(({ name, steps }) => [name, steps])).toEqual([
      ['a', 3],
      ['b', 1],
    ]);
  });

  test.each([
    ['csv', metricsCsv],
    ['jsonl', metricsJsonLines],
  ] as const)('leaves out the hashes of panels in its own export as %s', async (format, lines) => {
    const points = [1, 2].map((iteration) => ({
      iteration,
      time: 1_700_000_000_000,
      values: { 'rollout/entropy': 1 / iteration, ...(iteration === 2 && { 'evaluation/lake/success_rate': 0.5 }) },
    }));
    const panels = [{ label: 'lake', hash: '0123456789abcdef'.repeat(4) }];
    const path = write(`run.${format}`, [...lines(points, panels)].join(''));
    expect(readFileSync(path, 'utf8')).toContain(panels[0]!.hash);
    expect(Object.keys(await imported(path))).toEqual(['evaluation/lake/success_rate', 'rollout/entropy']);
  });

  test.each<ExportFormat>(['csv', 'jsonl', 'tensorboard'])(
    'reads its own export as %s without a loss',
    async (format) => {
      const names = [
        ...[
          'rollout/entropy',
          'rollout/lake/entropy',
          'rollout/entropy_by_turn/1',
          'rollout/action_share/Up',
          'time/rollout',
        ],
        ...[
          'evaluation/lake/success_rate',
          'evaluation/lake-2/success_rate',
          'ragen/actor/pg_clipfrac',
          'other/a b, "c"',
        ],
      ];
      const rows = [0, 1, 2].map((step) => ({
        iteration: step,
        time: new Date(1_700_000_000_000 + 1000 * step).toISOString(),
        metrics: Object.fromEntries(names.map((name, index) => [name, Math.fround((step + 1) / (index + 3))])),
      }));
      const source = await importFile(
        world.home,
        write('run.jsonl', rows.map((row) => JSON.stringify(row)).join('\n')),
      );
      expect(source.from).toBe('starpo');
      const core = await world.core();
      const { folder, files } = await core.exports.make({ of: { runId: source.runId }, format });
      const exported = join(folder, files[0]!.name);
      const again = await importFile(world.home, exported);
      await core.supervisor.add(again.runId);
      const [before, after] = [source.runId, again.runId].map((runId) => readSeries(core.database, runId));
      expect(after).toEqual(before);
      expect(before!.map(({ name }) => name)).toEqual(names.toSorted());
      for (const { runId } of [source, again])
        expect(timesOf(core, runId)).toEqual([0, 1, 2].map((step) => 1_700_000_000_000 + 1000 * step));
    },
  );
});
