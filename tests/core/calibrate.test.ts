import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { fittedFile, readCalibration, writeCalibration } from '../../core/echo-trap/calibration.ts';
import { labelRun } from '../../core/echo-trap/collapse-rule.ts';
import { evaluateAll, fitWeights, ourAlarms, withStepSizes } from '../../core/echo-trap/fit.ts';
import { readLabeledRun, readLabeledRuns, readPoints } from '../../core/echo-trap/labeled-runs.ts';
import { lostSuccess, windowMeans } from '../../core/echo-trap/lost-success.ts';
import { flightRecorderAlarms, ragen2Alarms, rlwatchAlarms } from '../../core/echo-trap/rivals.ts';
import { type EvaluatedRun, scoreOf, wilson } from '../../core/echo-trap/score.ts';
import { shippedThresholds } from '../../core/echo-trap/thresholds.ts';
import type { Point } from '../../core/echo-trap/track.ts';
import { findPreset } from '../../core/presets/presets.ts';
import type { RunConfig } from '../../core/run-config/run-config.ts';
import { thorough } from '../thorough.ts';
import { starpoHere } from './fixtures/command.ts';
import * as journal from './fixtures/journal.ts';
import { type Outcome, seriesOf } from './fixtures/trap-series.ts';
import { World } from './fixtures/world.ts';

const scored = (kind: string, collapsed: number | null, iterations: number, alarms: number[]): EvaluatedRun => ({
  run: { kind, collapsed },
  first: 1,
  last: iterations,
  alarms,
});

describe('alert scoring', () => {
  test('counts hits, leads and false alarms as docs/collapse-rule.md defines them', () => {
    const score = scoreOf([
      scored('template', 150, 200, [100, 140]),
      scored('chaos', 150, 200, [60]),
      // 101 iterations early: a false alarm, not a hit.
      scored('template', 151, 200, [50]),
      // At the onset, and after it.
      scored('template', 80, 200, [80]),
      scored('chaos', 80, 200, [81]),
      scored('healthy', null, 300, []),
      scored('locked', null, 100, [7, 70]),
      scored('solved', null, 100, []),
      scored('declining', null, 500, [5]),
      scored('template', 9, 100, [4]),
    ]);
    expect(score).toMatchObject({
      runs: 10,
      collapsed: 5,
      lost_at_once: 1,
      hits: 3,
      recall: 0.6,
      // The alarm one iteration after the onset is prompt.
      prompt_hits: 4,
      prompt_recall: 0.8,
      recall_with_lost_at_once: 3 / 6,
      precision: 3 / 5,
      healthy_iterations: 49 + 49 + 50 + 300 + 100 + 100,
      false_alarms: 3,
      median_lead: 50,
      worst_lead: 0,
      alarmed: { healthy: { alarmed: 0, runs: 1 }, locked: { alarmed: 1, runs: 1 } },
    });
    expect(score.false_alarms_per_1000).toBeCloseTo(3000 / 648, 10);
    expect(score.false_alarms_per_1000_with_declining).toBeCloseTo(4000 / 1148, 10);
    expect(score.median_lead_share).toBeCloseTo(1 / 3, 10);
  });

  test("a fork's iterations count from its first iteration", () => {
    const fork = (collapsed: number | null, alarms: number[]): EvaluatedRun => ({
      ...scored('template', collapsed, 180, alarms),
      first: 61,
    });
    expect(scoreOf([fork(69, [65]), fork(120, [100]), fork(null, [])])).toMatchObject({
      collapsed: 1,
      lost_at_once: 1,
      hits: 1,
      healthy_iterations: 120,
      median_lead: 20,
      median_lead_share: 20 / 60,
    });
  });

  test('iterations after the end of a run do not count as healthy', () => {
    expect(scoreOf([scored('template', 99_999, 200, [])])).toMatchObject({ healthy_iterations: 200 });
  });

  test('Wilson intervals match values from the literature', () => {
    expect(wilson(0, 10).low).toBe(0);
    expect(wilson(0, 10).high).toBeCloseTo(0.2775, 4);
    expect(wilson(8, 10).low).toBeCloseTo(0.4902, 4);
    expect(wilson(8, 10).high).toBeCloseTo(0.9433, 4);
    expect(wilson(0, 0)).toEqual({ low: 0, high: 1 });
  });

  test('without runs, all scores are null', () => {
    const none = scoreOf([]);
    expect(none).toMatchObject({
      recall: null,
      precision: null,
      false_alarms_per_1000: null,
      median_lead: null,
    });
  });
});

const points = (values: readonly number[], name: string): Point[] =>
  values.map((value, i) => ({ iteration: i + 1, metrics: { [name]: value } }));
const flat = (length: number, value: number) => Array.from({ length }, () => value);

describe('baseline methods, implemented from their descriptions', () => {
  test('RAGEN-2 stops after ten iterations below a tenth of the first ten', () => {
    const spread = 'rollout/reward_std_in_group';
    expect(ragen2Alarms(points([...flat(30, 1), ...flat(20, 0.09)], spread))).toEqual([40]);
    expect(ragen2Alarms(points([...flat(30, 1), ...flat(9, 0.09), 1, ...flat(9, 0.09)], spread))).toEqual([]);
    expect(ragen2Alarms(points([...flat(30, 1), ...flat(50, 0.11)], spread))).toEqual([]);
    expect(ragen2Alarms([])).toEqual([]);
  });

  test('RAGEN-2 stops after validations without success and after filters that keep nothing', () => {
    const name = 'evaluation/lake/success_rate';
    expect(ragen2Alarms(points([0.3, 0, 0.009, 0, 0, 0, 0], name))).toEqual([6]);
    expect(ragen2Alarms(points([0.3, 0, 0, 0, 0.02, 0, 0], name))).toEqual([]);
    expect(ragen2Alarms(points([4, 0, 0, 0, 0, 0], 'filter/kept_groups'))).toEqual([6]);
  });

  test('rlwatch warns about sustained entropy below one nat, once per stretch and per hundred steps', () => {
    const entropy = (values: number[]) => rlwatchAlarms(points(values, 'rollout/entropy'));
    // Twenty warm-up steps, then 25 and 50 consecutive ones.
    expect(entropy(flat(200, 0.5))).toEqual([45, 70]);
    expect(entropy(flat(200, 1.5))).toEqual([]);
    expect(entropy([...flat(50, 0.5), 2, ...flat(24, 0.5)])).toEqual([45]);
  });

  test('Flight Recorder warns if KL accelerates out of its range for five steps', () => {
    // Accelerations of ±0.02 in the warm-up.
    const calm = Array.from({ length: 60 }, (_, i) => 0.01 * (i % 2));
    const kl = (values: number[]) => flightRecorderAlarms(points(values, 'actor/approximate_kl'));
    expect(kl(calm)).toEqual([]);
    const exploding = calm.map((value, i) => value + (i < 40 ? 0 : 0.1 * (i - 39) ** 2));
    // KL accelerates by 0.1 at iteration 41, inside the tube, and by 0.2 from 42; 46 is the fifth step outside.
    expect(kl(exploding)).toEqual([46]);
    expect(kl(exploding.slice(0, 45))).toEqual([]);
    expect(flightRecorderAlarms([])).toEqual([]);
  });

  test('rlwatch warns about outliers among the last hundred values and about drift', () => {
    const wavy = Array.from({ length: 200 }, (_, i) => 1 + 0.1 * (i % 2));
    const spiked = wavy.with(150, 1.25).with(151, 9);
    expect(rlwatchAlarms(points(spiked, 'actor/grad_norm'))).toEqual([151, 152]);
    expect(rlwatchAlarms(points(wavy, 'actor/grad_norm'))).toEqual([]);
    expect(rlwatchAlarms(points(wavy.with(10, 9), 'actor/grad_norm'))).toEqual([]);
    const rising = Array.from({ length: 200 }, (_, i) => 0.01 * i);
    expect(rlwatchAlarms(points(rising, 'rollout/reward_mean')).length).toBeGreaterThan(0);
    expect(
      rlwatchAlarms(
        points(
          rising.map((value) => value / 100),
          'rollout/reward_mean',
        ),
      ),
    ).toEqual([]);
    const variance = [...flat(100, 1), ...flat(10, 2)];
    expect(rlwatchAlarms(points(variance, 'rollout/reward_std_in_group'))).toEqual([101]);
    expect(rlwatchAlarms(points(flat(100, 1).with(60, Number.NaN), 'actor/loss'))).toEqual([61]);
  });
});

describe('starpo calibrate', { timeout: 180_000 }, () => {
  let world: World;
  let folder: string;
  beforeEach(() => {
    world = new World();
    folder = mkdtempSync(join(tmpdir(), 'starpo-labeled-'));
  });
  afterEach(async () => {
    await world.close();
    rmSync(folder, { recursive: true, force: true });
  });

  function put(
    path: string,
    outcome: Outcome,
    { seed = 1, label = true, preset = 'starter-frozen-lake-grpo', rate = null as number | null } = {},
  ) {
    const run = join(folder, path);
    mkdirSync(run, { recursive: true });
    const config = structuredClone(findPreset(preset).config);
    if (rate !== null) config.optimizer.learning_rate = rate;
    writeFileSync(join(run, 'run.json'), JSON.stringify(config));
    const series = seriesOf(outcome, { seed }).map(({ iteration, metrics }) => {
      const hasRate = rate !== null && 'actor/learning_rate' in metrics;
      return { iteration, metrics: hasRate ? { ...metrics, 'actor/learning_rate': rate } : metrics };
    });
    const lines = series.map(({ iteration, metrics }, seq) =>
      JSON.stringify({
        v: 1,
        seq,
        time: seq,
        ...(iteration === 0
          ? { type: 'evaluation', label: 'lake', iteration, metrics }
          : { type: 'iteration', iteration, metrics }),
      }),
    );
    writeFileSync(join(run, 'events.jsonl'), `${lines.join('\n')}\n`);
    const collapsed = { template: 140, chaos: 140, dead: 4 }[outcome as string] ?? null;
    const kind = outcome === 'dead' ? 'template' : outcome;
    if (label) writeFileSync(join(run, 'label.json'), JSON.stringify({ collapsed, kind }));
    return run;
  }

  const run = (...args: string[]) => starpoHere(['calibrate', ...args], world.environment());

  test('scores StarPO Studio and three other methods by environment and algorithm', async () => {
    put('held-out/a', 'template');
    put('held-out/b', 'healthy', { preset: 'starter-sokoban-starpo-s' });
    put('held-out/c', 'solved', { preset: 'starter-sokoban-starpo-s' });
    put('tuning/d', 'chaos', { label: false });
    const { status, output } = await run(folder, '--json');
    expect(status).toBe(0);
    const { held_out, tuning } = JSON.parse(output);
    expect(held_out.ours).toMatchObject({ runs: 3, collapsed: 1, recall: 1, false_alarms_per_1000: 0 });
    expect(held_out.ours.median_lead).toBeGreaterThan(0);
    for (const method of ['ragen2', 'rlwatch', 'flight_recorder'])
      expect(held_out[method]).toMatchObject({ runs: 3, recall: expect.any(Number) });
    expect(held_out.by_environment.sokoban.ours).toMatchObject({ runs: 2, collapsed: 0, recall: null });
    expect(Object.keys(held_out.by_algorithm)).toEqual(['StarPO (GRPO)', 'StarPO-S (PPO)']);
    // Labeled by the collapse rule.
    expect(tuning.ours).toMatchObject({ runs: 1, collapsed: 1, recall: 1 });
    const table = await run(folder);
    expect(table).toMatchObject({ status: 0, errors: '' });
    expect(table.output).toMatch(
      /Held-out runs[\s\S]*StarPO Studio[\s\S]*RAGEN-2[\s\S]*rlwatch[\s\S]*Flight Recorder[\s\S]*Thresholds: shipped/,
    );
  });

  test('plots every run with the alarms of each method', async () => {
    put('held-out/a', 'template');
    put('held-out/"b" & <b>', 'healthy');
    const file = join(folder, 'alarms.svg');
    expect(await run(folder, '--chart', file)).toMatchObject({ status: 0, errors: '' });
    const rows = readFileSync(file, 'utf8').split('<g>').slice(1);
    expect(rows.map((row) => /<text [^>]*>([^<]*)</.exec(row)![1])).toEqual(['a', '&quot;b&quot; &amp; &lt;b&gt;']);
    expect(rows[0]).toContain('template, onset 140');
    const marks = (row: string) =>
      row
        .split('width="3"')
        .slice(1)
        .filter((rest) => /^[^>]*#1f6feb/.test(rest));
    expect(marks(rows[0]!).length).toBeGreaterThan(0);
    expect(marks(rows[1]!)).toEqual([]);
    expect(await run(folder, '--chart', join(folder, 'none/alarms.svg'))).toMatchObject({
      status: 1,
      errors: expect.stringContaining('file_not_written'),
    });
  });

  test('a folder without a split is scored as a whole and can be used for fitting', async () => {
    put('a', 'healthy');
    put('b', 'template', { seed: 2 });
    put('c', 'locked', { seed: 3, preset: 'starter-sokoban-grpo' });
    put('d', 'chaos', { seed: 4, preset: 'starter-sokoban-grpo' });
    const report = JSON.parse((await run(folder, '--json')).output);
    expect(report).toMatchObject({
      held_out: { ours: { runs: 4 } },
      skipped_runs: [],
      skipped_lines: {},
    });
    expect(report.tuning).toBeUndefined();
    const table = await run(folder);
    expect(table.output).toMatch(/^Runs\n/);
    expect(table.output).not.toContain('Held-out');
    const fitted = JSON.parse((await run(folder, '--json', '--fit')).output);
    expect(fitted.tuning.ours).toMatchObject({ runs: 4, recall: 1 });
    expect(fitted.held_out).toEqual(fitted.tuning);
    expect(readCalibration(world.home).about).toMatchObject({ source: 'fitted', runs: 4 });
    expect((await run(folder, '--fit')).output).toMatch(/^Tuning runs \(used for fitting\)\n/);
    const validated = JSON.parse((await run(folder, '--json', '--cross-validate')).output);
    expect(validated).toMatchObject({ left_out: { runs: 4 }, tuning: { ours: { runs: 4 } } });
  });

  test('a data folder is scored by its runs', async () => {
    put('runs/a', 'healthy');
    put('runs/b', 'template');
    // The remains of an interrupted `adopt`.
    rmSync(join(put('runs/.one-adopting-4711-0a1b2c3d', 'healthy'), 'run.json'));
    const { status, output, errors } = await run(folder, '--json');
    expect({ status, errors }).toEqual({ status: 0, errors: '' });
    expect(JSON.parse(output)).toMatchObject({ held_out: { ours: { runs: 2 } }, skipped_runs: [] });
  });

  test('creates the data folder for fitted thresholds', async () => {
    put('a', 'healthy');
    put('b', 'template');
    const home = join(folder, 'data/of-mine');
    expect(await run(folder, '--fit', '--home', home)).toMatchObject({ status: 0, errors: '' });
    expect(readCalibration(home).about).toMatchObject({ source: 'fitted' });
    writeFileSync(join(folder, 'file'), '');
    expect(await run(folder, '--fit', '--home', join(folder, 'file/in-it'))).toMatchObject({
      status: 1,
      errors: expect.stringContaining('file_not_written'),
    });
  });

  test.each([
    [
      'an onset after the last iteration',
      { collapsed: 99_999, kind: 'template' },
      /collapsed is 99999, but the run ends/,
    ],
    ['an unknown kind', { collapsed: null, kind: 'banana' }, /kind must be one of template, chaos/],
    [
      'a kind of collapse without an onset',
      { collapsed: null, kind: 'template' },
      /kind must not be template or chaos if `collapsed` is null/,
    ],
    [
      'an onset in a healthy run',
      { collapsed: 100, kind: 'healthy' },
      /kind must be template or chaos if `collapsed` is an iteration/,
    ],
    ['a value that is not an object', null, /label.json: it must be an object/],
  ])('rejects a label with %s', async (_, label, words) => {
    writeFileSync(join(put('a', 'healthy'), 'label.json'), JSON.stringify(label));
    const { status, errors } = await run(folder);
    expect(status).toBe(2);
    expect(errors).toMatch(words);
    expect(errors).toMatch(/hint: A label.json contains[\s\S]*labeled_run_invalid/);
  });

  test('rejects a run with an invalid run.json or journal', async () => {
    const file = join(put('a', 'healthy'), 'run.json');
    for (const text of ['null', '[]', '{"environments":[null]}', '{"rollout":{"groups":"eight"}}']) {
      writeFileSync(file, text);
      expect(await run(folder), text).toMatchObject({
        status: 2,
        errors: expect.stringMatching(/run\.json: [\s\S]*hint: Restore the run.json[\s\S]*labeled_run_invalid/),
      });
    }
    rmSync(join(folder, 'a/events.jsonl'));
    put('b', 'healthy');
    writeFileSync(file, '{}');
    writeFileSync(join(folder, 'a/events.jsonl.zst'), 'not packed');
    expect(await run(folder)).toMatchObject({
      status: 2,
      errors: expect.stringMatching(/events\.jsonl\.zst: [\s\S]*labeled_run_invalid/),
    });
  });

  test('reports skipped runs and lines', async () => {
    const shorten = (path: string) => {
      const file = join(folder, path, 'events.jsonl');
      writeFileSync(file, readFileSync(file, 'utf8').split('\n').slice(0, 10).join('\n'));
    };
    put('tuning/short', 'healthy', { label: false });
    shorten('tuning/short');
    const file = join(put('tuning/long', 'healthy'), 'events.jsonl');
    const damaged = '{"v":1,"seq":900,"time":1,"type":"iteration","iteration":"three","metrics":{}}';
    // The last line has no line break, because a trainer may still be writing it.
    writeFileSync(file, `${readFileSync(file, 'utf8')}${damaged}\n\nno JSON\n{"v":1,"se`);
    put('held-out/a', 'healthy');
    const { status, errors, output } = await run(folder, '--json');
    expect(status).toBe(0);
    expect(errors.trim()).toBe(
      'warning: tuning: 1 run skipped: too short for the rule or without success, and without label.json (short). Unreadable journal lines skipped: 2 of long.',
    );
    expect(JSON.parse(output)).toMatchObject({
      tuning: { ours: { runs: 1 } },
      skipped_runs: ['tuning/short'],
      skipped_lines: { 'tuning/long': 2 },
    });
    put('tuning/long', 'healthy', { label: false });
    rmSync(join(folder, 'tuning/long/label.json'));
    shorten('tuning/long');
    expect(await run(folder)).toMatchObject({
      status: 2,
      output: '',
      errors: expect.stringMatching(/2 runs skipped: too short[\s\S]*labeled_runs_missing/),
    });
  });

  test('warns if the runs for fitting come from several models', async () => {
    const setStart = (runFolder: string, start: object) => {
      const file = join(runFolder, 'run.json');
      const config = JSON.parse(readFileSync(file, 'utf8'));
      writeFileSync(file, JSON.stringify({ ...config, start: { ...config.start, ...start } }));
    };
    put('tuning/a', 'template');
    const other = put('tuning/b', 'healthy', { seed: 2 });
    // A fork starts from a checkpoint, which doesn't count as another model. The models of held-out runs don't matter.
    setStart(put('tuning/c', 'healthy', { seed: 3 }), {
      model: '/runs/a/checkpoints/000060',
      run: 'a',
      checkpoint: 60,
    });
    setStart(put('held-out/d', 'healthy', { seed: 4 }), { model: '/models/Qwen2.5-0.5B' });
    expect(await run(folder, '--fit')).toMatchObject({ status: 0, errors: '' });
    expect(readCalibration(world.home).about.models).toEqual(['starter on frozen-lake']);
    // Only a fork was trained on this environment, so it is assigned the only model.
    const elsewhere = put('tuning/e', 'healthy', { seed: 5, preset: 'starter-sokoban-grpo' });
    setStart(elsewhere, { model: '/runs/a/checkpoints/000060', run: 'a', checkpoint: 60 });
    expect(await run(folder, '--fit')).toMatchObject({ status: 0, errors: '' });
    expect(readCalibration(world.home).about.models).toEqual(['starter on frozen-lake', 'starter on sokoban']);
    setStart(other, { model: '/models/Qwen2.5-0.5B' });
    expect(await run(folder)).toMatchObject({ status: 0, errors: '' });
    for (const option of ['--fit', '--cross-validate']) {
      const { errors } = await run(folder, option);
      expect(errors, option).toContain('warning: the runs come from 2 models (Qwen2.5-0.5B, starter)');
    }
    expect(readCalibration(world.home).about.models).toEqual([
      'Qwen2.5-0.5B on frozen-lake',
      'a model on sokoban',
      'starter on frozen-lake',
    ]);
  });

  test('reports that fitted thresholds apply after a restart, and to existing runs after a rebuild', async () => {
    put('fell', 'template');
    put('held', 'healthy');
    const existingRun = join(world.home, 'runs/fell');
    cpSync(join(folder, 'fell'), existingRun, { recursive: true });
    // Up to the onset: after a collapse, success alone determines the state.
    const lines = readFileSync(join(existingRun, 'events.jsonl'), 'utf8').split('\n').slice(0, 140);
    writeFileSync(join(existingRun, 'events.jsonl'), `${lines.join('\n')}\n`);
    const running = await world.core();
    const first = running.runs.get('fell').trap;
    const alerts = running.annotations.alerts('fell');
    expect(first?.state).toBe('warning');
    expect(alerts.length).toBeGreaterThan(0);
    const { output } = await run(folder, '--fit');
    expect(output).toMatch(/Restart open apps and `starpo serve` to use them\./);
    expect(output).toMatch(/Run `starpo history rebuild` after the restart/);
    // With blunt thresholds, the state shows which thresholds were applied.
    const { about } = readCalibration(world.home);
    const weights = Object.fromEntries(Object.keys(shippedThresholds.weights).map((name) => [name, 0]));
    writeCalibration(world.home, { about, thresholds: { ...shippedThresholds, weights } });
    await running.supervisor.rebuild();
    expect(running.runs.get('fell').trap).toEqual(first);
    await world.end();
    const restarted = await world.core();
    expect(restarted.runs.get('fell').trap).toEqual(first);
    await restarted.supervisor.rebuild();
    expect(restarted.runs.get('fell').trap).not.toEqual(first);
    expect(restarted.annotations.alerts('fell')).toEqual(expect.arrayContaining(alerts));
  });

  test('fits thresholds to labeled runs and stores them where monitors read them', async () => {
    put('tuning/a', 'template');
    put('tuning/b', 'healthy', { seed: 2 });
    put('tuning/c', 'locked', { seed: 3 });
    const blunt = Object.fromEntries(Object.keys(shippedThresholds.weights).map((name) => [name, 0]));
    writeFileSync(
      fittedFile(world.home),
      JSON.stringify({
        version: 1,
        calibration: { source: 'fitted', models: [], runs: 0, note: '' },
        // Too blunt to detect anything.
        thresholds: { ...shippedThresholds, weights: blunt },
      }),
    );
    const before = JSON.parse((await run(folder, '--json')).output).tuning.ours;
    expect(before.hits).toBe(0);
    // Fitting replaces an invalid file.
    writeFileSync(fittedFile(world.home), '{"version":2}');
    const { status, output } = await run(folder, '--json', '--fit');
    expect(status).toBe(0);
    expect(JSON.parse(output).tuning.ours).toMatchObject({ recall: 1, false_alarms: 0 });
    expect(readCalibration(world.home)).toMatchObject({
      about: { source: 'fitted', runs: 3, models: ['starter on frozen-lake'] },
    });
  });

  test('fits the step-size threshold to the model, in any unit', async () => {
    const fits = [];
    for (const unit of [1, 0.01]) {
      put('tuning/held', 'healthy', { rate: 1e-4 * unit });
      put('tuning/held-too', 'healthy', { seed: 2, rate: 3e-4 * unit });
      put('tuning/fell', 'template', { seed: 3, rate: 4e-4 * unit });
      put('tuning/fell-too', 'chaos', { seed: 4, rate: 8e-4 * unit });
      expect(await run(folder, '--fit')).toMatchObject({ status: 0 });
      fits.push(readCalibration(world.home).thresholds);
      expect(fits.at(-1)!.detectors.steady_steps).toBeCloseTo(1e-4 * unit, 12);
      expect(fits.at(-1)!.detectors.long_steps).toBeCloseTo(6e-4 * unit, 12);
    }
    expect(fits[1]!.weights).toEqual(fits[0]!.weights);
    expect(fits[0]!.weights.steps_long).toBeGreaterThan(0);
    // If healthy runs have steps as long as collapsed runs, the step size is not fitted.
    put('tuning/fell', 'template', { seed: 3, rate: 1e-4 });
    put('tuning/fell-too', 'chaos', { seed: 4, rate: 1e-4 });
    put('tuning/held', 'healthy', { rate: 2e-4 });
    put('tuning/held-too', 'healthy', { seed: 2, rate: 2e-4 });
    expect(await run(folder, '--fit')).toMatchObject({ status: 0 });
    expect(readCalibration(world.home).thresholds).toMatchObject({
      detectors: shippedThresholds.detectors,
    });
  });

  test('cross-validation scores the runs of each setting with weights fitted to the others', async () => {
    const presets = ['starter-frozen-lake-grpo', 'starter-frozen-lake-ppo', 'starter-sokoban-grpo'];
    for (const [i, preset] of presets.entries()) {
      put(`tuning/${preset}-fell`, i === 1 ? 'chaos' : 'template', { preset, seed: i });
      put(`tuning/${preset}-held`, 'healthy', { preset, seed: i + 10 });
    }
    const { runs } = readLabeledRuns(join(folder, 'tuning'));
    expect(new Set(runs.map(({ settings }) => settings)).size).toBe(3);
    // Compute the same with separate monitors.
    const judgedApart = runs.flatMap((run) => {
      const others = runs.filter(({ settings }) => settings !== run.settings);
      return evaluateAll([run], () => ourAlarms(run, fitWeights(others, withStepSizes(others, shippedThresholds))));
    });
    const { status, output } = await run(folder, '--json', '--cross-validate');
    expect(status).toBe(0);
    const { left_out } = JSON.parse(output);
    expect(left_out).toEqual(JSON.parse(JSON.stringify(scoreOf(judgedApart))));
    expect(left_out).toMatchObject({ runs: 6, collapsed: 3, healthy_iterations: expect.any(Number) });
    expect((await run(folder, '--cross-validate')).output).toMatch(/each setting scored with thresholds[\s\S]*6 \(3\)/);
    for (const preset of presets.slice(1)) rmSync(join(folder, `tuning/${preset}-fell`), { recursive: true });
    expect(await run(folder, '--cross-validate')).toMatchObject({
      status: 2,
      errors: expect.stringMatching(/Cross-validation needs[\s\S]*labeled_runs_missing/),
    });
  });

  test('reports invalid input', async () => {
    expect(await run(join(folder, 'none'))).toMatchObject({
      status: 2,
      errors: expect.stringContaining('labeled_runs_missing'),
    });
    const damaged = put('a', 'healthy');
    writeFileSync(join(damaged, 'label.json'), '{"collapsed":"soon"}');
    expect(await run(folder)).toMatchObject({
      status: 2,
      errors: expect.stringMatching(/label.json: collapsed[\s\S]*labeled_run_invalid/),
    });
    writeFileSync(fittedFile(world.home), '{"version":2}');
    expect(await run(folder)).toMatchObject({ status: 2, errors: expect.stringContaining('labeled_run') });
    rmSync(join(damaged, 'label.json'));
    expect(await run(folder)).toMatchObject({
      status: 2,
      errors: expect.stringMatching(/echo-trap.json[\s\S]*another version[\s\S]*thresholds_invalid/),
    });
    put('only/held-out/b', 'healthy');
    rmSync(fittedFile(world.home));
    expect(await run(join(folder, 'only'), '--fit')).toMatchObject({
      status: 2,
      errors: expect.stringContaining('tuning'),
    });
  });

  test('iterations that a resumed trainer repeated count once', () => {
    const lines = [
      journal.started(0),
      journal.iteration(1, 1, 0.1),
      journal.iteration(2, 2, 0.2),
      journal.started(3, { checkpoint: 'checkpoints/000001', iteration: 1 }),
      journal.iteration(4, 2, 0.5),
      'cut',
    ];
    writeFileSync(join(folder, 'events.jsonl'), lines.join('\n'));
    expect(readPoints(join(folder, 'events.jsonl'))).toEqual([
      { iteration: 1, metrics: { 'rollout/success_rate': 0.1 } },
      { iteration: 2, metrics: { 'rollout/success_rate': 0.5 } },
    ]);
  });
});

describe('lost success', () => {
  const at = (iteration: number, success: number, half: number | null = null) => ({
    iteration,
    success,
    low: half === null ? null : success - half,
    high: half === null ? null : success + half,
  });

  test('is reported if the intervals of peak and last success do not overlap', () => {
    expect(lostSuccess([at(0, 0.2, 0.1), at(10, 0.48, 0.06), at(20, 0, 0.02)])).toEqual({
      peak: { iteration: 10, success: 0.48 },
      last: { iteration: 20, success: 0 },
    });
    expect(lostSuccess([at(0, 0.2, 0.1), at(10, 0.05, 0.06)])).toBeNull();
  });

  test('has means of exactly 0 after success is lost', () => {
    const points = [0.7, 0.1, 0.9, 0.3, 0, 0, 0].map((success, iteration) => ({ iteration, success }));
    expect(
      windowMeans(points, 3)
        .map(({ success }) => success)
        .slice(-1),
    ).toEqual([0]);
    expect(windowMeans(points, 8)).toEqual([]);
  });

  test('needs a peak of 15 % and a loss of more than half', () => {
    expect(lostSuccess([])).toBeNull();
    expect(lostSuccess([at(0, 0.14), at(10, 0)])).toBeNull();
    expect(lostSuccess([at(0, 0.4), at(10, 0.2)])).toBeNull();
    expect(lostSuccess([at(0, 0.4), at(10, 0.19)])).not.toBeNull();
  });
});

describe('the collapse rule', () => {
  /** Success in rollouts, and optionally in an evaluation every five iterations. */
  const run = (success: (iteration: number) => number, evaluated?: (iteration: number) => number) =>
    Array.from({ length: 101 }, (_, iteration): Point => {
      const metrics: Record<string, number> = {};
      if (iteration > 0) metrics['rollout/success_rate'] = success(iteration);
      if (evaluated && iteration % 5 === 0) metrics['evaluation/lake/success_rate'] = evaluated(iteration);
      return { iteration, metrics };
    });
  const dip = (iteration: number) => (iteration > 60 && iteration <= 75 ? 0.1 : 0.6);

  test('uses rollouts if there are no evaluations', () => {
    expect(labelRun(run(dip), 8)).toEqual({ collapsed: 63, kind: 'template' });
    expect(
      labelRun(
        run(dip, (iteration) => (iteration > 0 ? Number.NaN : 0.6)),
        8,
      ),
    ).toMatchObject({ collapsed: 63 });
    expect(
      labelRun(
        run(() => 0.6),
        8,
      ),
    ).toEqual({ collapsed: null, kind: 'healthy' });
  });

  test('uses evaluations if there are enough, so that hard levels are not labeled as collapse', () => {
    expect(
      labelRun(
        run(dip, () => 0.6),
        8,
      ),
    ).toEqual({ collapsed: null, kind: 'healthy' });
    // Healthy up to the window of 55 and 60; below 80 % with 65, below 50 % with 70.
    expect(
      labelRun(
        run(() => 0.6, dip),
        8,
      ),
    ).toEqual({ collapsed: 61, kind: 'template' });
    expect(
      labelRun(
        run(
          () => 0.6,
          () => 0.97,
        ),
        8,
      ),
    ).toEqual({ collapsed: null, kind: 'solved' });
  });

  test('detects a fork that collapses immediately', () => {
    const fork = run(
      (iteration) => (iteration > 60 ? 0.1 : Number.NaN),
      (iteration) => (iteration === 60 ? 0.6 : Number.NaN),
    ).slice(60);
    expect(labelRun(fork, 8)).toEqual({ collapsed: 61, kind: 'template' });
  });
});

test('the recorded runs are readable, and their labels follow the collapse rule', () => {
  for (const part of ['tuning', 'held-out']) {
    const folder = join(import.meta.dirname, '../../benchmarks/echo-trap', part);
    const names = readdirSync(folder).filter((name) => existsSync(join(folder, name, 'run.json')));
    expect(names.length).toBeGreaterThan(10);
    for (const name of names.filter((_, i) => thorough || i % 4 === 0)) {
      const run = readLabeledRun(join(folder, name), () => expect.fail(`an unreadable line of ${name}`))!;
      const { rollout } = run.config as RunConfig;
      const label = labelRun(run.points, rollout.groups, rollout.group_size);
      expect({ name: run.name, collapsed: run.collapsed, kind: run.kind }).toEqual({
        name: run.name,
        ...label,
      });
    }
  }
});
