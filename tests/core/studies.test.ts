import { appendFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { writeJobFile } from '../../core/cluster/job-file.ts';
import { collapseInWords } from '../../core/contract/collapse-words.ts';
import type { Input, Notice } from '../../core/contract/contract.ts';
import { labelRun } from '../../core/echo-trap/collapse-rule.ts';
import { wilson } from '../../core/echo-trap/score.ts';
import { markdownTable, studyTable } from '../../core/exports/tables.ts';
import type { Core } from '../../core/index.ts';
import { createHandlers } from '../../core/server/handlers.ts';
import { estimateShare, studentQuantile } from '../../core/studies/interval.ts';
import { starpoHere } from './fixtures/command.ts';
import { FakeSlurm } from './fixtures/fake-slurm.ts';
import * as journal from './fixtures/journal.ts';
import { type Outcome, seriesOf } from './fixtures/trap-series.ts';
import { collectNotices, untilRun, World } from './fixtures/world.ts';

const small = {
  iterations: 2,
  'rollout.groups': 1,
  'rollout.group_size': 4,
  'policy_loss.mini_batch': 4,
};
const definition: Input<'studies.create'> = {
  name: 'Clip width',
  base: { preset: 'starter-frozen-lake-grpo' },
  set: small,
  points: [
    { name: 'as shipped', set: {} },
    { name: 'wide', set: { 'policy_loss.clip_high': 0.28 } },
  ],
  seeds: [1, 2],
};

/** Resolves once the sweep's summary satisfies the condition. */
function untilStudy(core: Core, id: string, condition: (study: Notice<'study'>['summary']) => boolean) {
  return new Promise<void>((resolve) => {
    const stop = core.notices.on((name, payload) => {
      const { studyId, summary } = payload as Notice<'study'>;
      if (name === 'study' && studyId === id) check(summary);
    });
    const check = (summary: Notice<'study'>['summary']) => {
      if (!condition(summary)) return;
      stop();
      resolve();
    };
    check(core.studies.summary(id));
  });
}

describe('a sweep', { timeout: 300_000 }, () => {
  let world: World;
  beforeEach(() => {
    world = new World();
  });
  afterEach(async () => {
    vi.unstubAllEnvs();
    await world.close();
  });
  const workingCore = () => world.core(undefined, { worksQueue: true });
  const config = (core: Core, runId: string) =>
    JSON.parse(readFileSync(join(core.runs.folder(runId), 'run.json'), 'utf8'));

  test('trains every setting with every seed and reports the results', async () => {
    const core = await workingCore();
    const id = await core.studies.create(definition);
    expect(await core.studies.get(id)).toMatchObject({
      summary: {
        state: 'created',
        environment: 'frozen-lake',
        base: 'starter-frozen-lake-grpo',
        runs: { total: 4, completed: 0, active: 0 },
      },
      table: [{ cells: [{ status: 'missing' }, { status: 'missing' }], before: null, after: null }, {}],
    });
    expect(core.runs.list()).toEqual([]);
    await core.studies.start(id);
    await untilStudy(core, id, (study) => study?.state === 'completed');
    const { table } = await core.studies.get(id);
    expect(table.map(({ name }) => name)).toEqual(['as shipped', 'wide']);
    for (const { cells, before, after, training } of table) {
      expect(cells.map(({ status, iteration, iterations }) => [status, iteration, iterations])).toEqual([
        ['completed', 2, 2],
        ['completed', 2, 2],
      ]);
      expect(before).toMatchObject({ n: 2, mean: 0.4 });
      // The fake trainer evaluates only at the start.
      expect(after).toBeNull();
      expect(training!.n).toBe(2);
      expect(training!.mean).toBeCloseTo(cells[0]!.training!, 12);
      // Two seeds have no interval.
      expect(training).toMatchObject({ low: null, high: null, values: cells.map((cell) => cell.training) });
    }
    const [, wide] = table;
    expect(config(core, wide!.cells[1]!.runId)).toMatchObject({
      seed: 2,
      iterations: 2,
      policy_loss: { clip_high: 0.28 },
      preset: 'starter-frozen-lake-grpo',
    });
    expect(core.runs.get(wide!.cells[1]!.runId)).toMatchObject({
      name: 'Clip width: wide s2',
      study: { id, name: 'Clip width', point: 'wide', seed: 2 },
    });
    const csv = (await core.exports.text({ of: { studyId: id }, format: 'csv' })).trim().split('\n');
    expect(csv[0]).toBe(
      'setting,policy_loss.clip_high,seed,run,status,iteration,iterations,before,after,training,collapsed,panel',
    );
    expect(csv).toHaveLength(5);
    expect(csv[4]).toMatch(new RegExp(`^wide,0\\.28,2,${id}-p2-s2,completed,2,2,0\\.4,,0\\.\\d+,,[0-9a-f]{64}$`));
    await expect(core.studies.start(id)).rejects.toMatchObject({ code: 'study_completed' });
  });

  test('has only valid configurations in the Echo Trap benchmark', async () => {
    const core = await workingCore();
    const file = new URL('../../benchmarks/echo-trap/trap.json', import.meta.url);
    const id = await core.studies.create(JSON.parse(readFileSync(file, 'utf8')));
    expect(await core.studies.get(id)).toMatchObject({
      summary: { base: 'starter-frozen-lake-trap', runs: { total: 30 } },
    });
  });

  test('is canceled and resumed with its failed, stopped and deleted runs', async () => {
    vi.stubEnv('FAKE_TRAINER_HOLD', '1');
    const core = await workingCore();
    const { id } = await createHandlers(core)['studies.create']({ ...definition, start: true });
    const [first, second, third] = [`${id}-p1-s1`, `${id}-p2-s1`, `${id}-p1-s2`];
    await untilRun(core, first, (run) => run.status === 'running');
    await core.studies.cancel(id);
    await untilRun(core, first, (run) => run.status === 'stopped');
    expect(core.queue.list()).toEqual([]);
    expect(core.studies.summary(id)).toMatchObject({
      state: 'incomplete',
      runs: { active: 0, completed: 0, total: 4 },
    });
    vi.stubEnv('FAKE_TRAINER_HOLD', '0');
    vi.stubEnv('FAKE_TRAINER_FAIL', '1');
    rmSync(core.runs.folder(third), { recursive: true });
    await core.studies.start(id);
    await untilStudy(core, id, (study) => study?.runs.failed === 3 && study.runs.completed === 1);
    expect(core.runs.get(second).status).toBe('failed');
    // Failed runs resume from their last checkpoint.
    await core.studies.start(id);
    await untilStudy(core, id, (study) => study?.state === 'completed');
    expect(core.runs.list()).toHaveLength(4);
  });

  test('stops its training runs when it is canceled, although Slurm does not answer', async () => {
    vi.stubEnv('FAKE_TRAINER_HOLD', '1');
    const slurm = new FakeSlurm();
    slurm.answers = false;
    const core = await world.core(undefined, { worksQueue: true, slurm: { run: slurm.run } });
    const { id } = await createHandlers(core)['studies.create']({ ...definition, start: true });
    const [first, second] = [`${id}-p1-s1`, `${id}-p2-s1`];
    await untilRun(core, first, (run) => run.status === 'running');
    writeJobFile(core.runs.folder(second), { target: 'slurm', job: '4', submitted: 1 });
    await expect(core.studies.cancel(id)).rejects.toMatchObject({ code: 'slurm_unreachable' });
    await untilRun(core, first, (run) => run.status === 'stopped');
  });

  test('is restored from its file and runs without the run history', async () => {
    const first = await workingCore();
    const id = await first.studies.create(definition);
    await first.studies.start(id);
    await untilStudy(first, id, (study) => study?.state === 'completed');
    const before = await first.studies.get(id);
    await world.end();
    world.deleteHistory();
    const second = await world.core();
    expect(await second.studies.get(id)).toEqual(before);
    expect(second.studies.list()).toEqual([before.summary]);
  });

  test('can be deleted with or without its runs', async () => {
    const core = await world.core();
    const [withoutRuns, withRuns] = [await core.studies.create(definition), await core.studies.create(definition)];
    await core.studies.start(withoutRuns);
    await core.studies.start(withRuns);
    await expect(core.studies.delete(withoutRuns, false)).rejects.toMatchObject({ code: 'study_active' });
    await core.studies.cancel(withoutRuns);
    await core.studies.cancel(withRuns);
    const runIds = (await core.studies.get(withoutRuns)).table.flatMap(({ cells }) => cells.map(({ runId }) => runId));
    const published = collectNotices(core, 'study');
    const names = new Map(runIds.map((runId) => [runId, core.runs.get(runId).name]));
    expect([...names.values()]).toContain(`${definition.name}: ${definition.points[0]!.name} s1`);
    await core.studies.delete(withoutRuns, false);
    expect(published).toContainEqual({ studyId: withoutRuns, summary: null });
    const { deleted } = await core.studies.delete(withRuns, true);
    expect(core.studies.list()).toEqual([]);
    for (const runId of runIds) {
      expect(existsSync(core.runs.folder(runId))).toBe(true);
      const { name, ...run } = core.runs.get(runId);
      expect(run).toMatchObject({ study: null, status: 'created' });
      expect(name).toBe(names.get(runId));
    }
    expect(existsSync(join(world.home, 'runs', `${withRuns}-p1-s1`))).toBe(false);

    // Both can be restored from the trash.
    expect(deleted).toHaveLength(4);
    await core.studies.restore(withoutRuns, []);
    expect(core.runs.get(runIds[0]!).study).toMatchObject({ id: withoutRuns, name: definition.name });
    const [first, ...others] = deleted.map(({ id }) => id);
    await core.trash.restore([first!]);
    expect(core.studies.summary(withRuns).runs).toMatchObject({ total: 4 });
    await core.trash.restore(others);
    expect((await core.studies.get(withRuns)).table[0]!.cells[0]).toMatchObject({ status: 'created' });
    const now = vi.spyOn(Date, 'now').mockReturnValue(Date.now());
    await core.studies.delete(withoutRuns, false);
    await core.trash.empty();
    now.mockRestore();
    await expect(core.studies.restore(withoutRuns, [])).rejects.toMatchObject({ code: 'study_unknown' });
  });

  test('names its runs in the trash, also after a restart', async () => {
    const core = await world.core();
    const id = await core.studies.create(definition);
    await core.studies.start(id);
    await core.studies.cancel(id);
    await core.studies.delete(id, true);
    const names = async ({ trash }: Core) => (await trash.list()).map(({ name }) => name).sort();
    const before = await names(core);
    expect(before).toContain(`${definition.name}: ${definition.points[0]!.name} s1`);
    await world.end();
    expect(await names(await world.core())).toEqual(before);
  });

  test("stays if one of its runs can't be deleted", async () => {
    const core = await world.core();
    const id = await core.studies.create(definition);
    await core.studies.start(id);
    await core.studies.cancel(id);
    const runId = `${id}-p1-s1`;
    const evaluated = core.evaluations.list;
    core.evaluations.list = async (each) => [
      ...(await evaluated.call(core.evaluations, each)),
      ...(each === runId ? [{ state: 'running' } as never] : []),
    ];
    const { deleted, refused } = await core.studies.delete(id, true);
    expect(deleted).toHaveLength(3);
    expect(refused).toMatchObject([{ runId, error: { code: 'evaluation_active' } }]);
    expect((await core.studies.get(id)).table[0]!.cells[0]).toMatchObject({ runId, status: 'created' });
  });

  test.each([
    ['two settings with the same name', { points: [definition.points[0], definition.points[0]] }, 'study_invalid'],
    ['a repeated seed', { seeds: [1, 1] }, 'study_invalid'],
    ['a setting that changes the seed', { points: [{ name: 'a', set: { seed: 3 } }] }, 'study_invalid'],
    ['common changes that set the seed', { set: { ...small, seed: 3 } }, 'study_invalid'],
    ['too many runs', { seeds: Array.from({ length: 100 }, (_, seed) => seed), points: many(21) }, 'study_invalid'],
    ['an unknown key', { points: [{ name: 'a', set: { 'rollout.grups': 3 } }] }, 'config_invalid'],
    ['a value out of range', { points: [{ name: 'a', set: { iterations: 0 } }] }, 'config_invalid'],
    ['another environment', { environment: 'sokoban' }, 'environment_unknown'],
    ['an unknown preset', { base: { preset: 'none' } }, 'preset_unknown'],
    ['an unknown run', { base: { run: 'none' } }, 'run_unknown'],
  ])('is rejected for %s without writing a file', async (_, change, code) => {
    const core = await world.core();
    const problem = await core.studies
      .create({ ...definition, ...change } as typeof definition)
      .catch((error) => error);
    expect(problem).toMatchObject({ code, hint: expect.stringMatching(/./) });
    if (code === 'config_invalid') expect(problem.message).toMatch(/^Setting "a": /);
    expect(core.studies.list()).toEqual([]);
    expect(existsSync(join(world.home, 'studies'))).toBe(false);
  });

  test('is skipped if its file is invalid', async () => {
    const core = await world.core();
    const id = await core.studies.create(definition);
    const path = join(world.home, 'studies', `${id}.json`);
    const text = readFileSync(path, 'utf8');
    for (const damaged of [text.slice(0, 100), text.replace('"version": 1', '"version": 2'), '']) {
      writeFileSync(path, damaged);
      expect(core.studies.list()).toEqual([]);
      await expect(core.studies.get(id)).rejects.toMatchObject({ code: 'study_unreadable' });
    }
    await expect(core.studies.get('none')).rejects.toMatchObject({ code: 'study_unknown' });
    writeFileSync(path, text);
    expect(core.studies.list()).toHaveLength(1);
  });

  test('counts finished runs, which completed or stopped early, each by its newest evaluation', async () => {
    const before = await world.core();
    const id = await before.studies.create({ ...definition, seeds: [1, 2, 3] });
    await before.dispose();
    const run = (seed: number, success: number, ...end: string[]) => {
      const iterations = Array.from({ length: 20 }, (_, at) => journal.iteration(2 + at, at + 1, at / 20));
      const name = `${id}-p1-s${seed}`;
      const lines = [journal.started(0), journal.evaluation(1, 0, 0.3), ...iterations];
      world.run(name, [...lines, journal.evaluation(22, 20, success), ...end]);
    };
    run(1, 0.6, journal.stopped(23, 20));
    run(2, 0.8, journal.stopped(23, 20, 'early_stop', 'reward std below 1 % for 5 iterations'));
    run(3, 0.1, journal.stopped(23, 20, 'command'));
    const core = await world.core();
    const { summary, table } = await core.studies.get(id);
    expect(summary).toMatchObject({ state: 'incomplete', runs: { total: 6, completed: 2 } });
    const startable = await core.studies.startable(id);
    expect(startable).toHaveLength(4);
    expect(startable).not.toContain(`${id}-p1-s2`);
    const [row] = table;
    expect(row).toMatchObject({ before: { n: 3, mean: 0.3 }, after: { n: 2 }, training: { n: 2 } });
    expect(row!.after!.mean).toBeCloseTo(0.7, 12);
    expect(row!.after).toMatchObject({ low: null, high: null, values: [0.6, 0.8] });
    expect(row!.training!.mean).toBeCloseTo((10 + 19) / 2 / 20, 12);
    expect(row!.cells.map(({ after }) => after)).toEqual([0.6, 0.8, 0.1]);
  });

  test('reports which runs collapsed, when and how, by the collapse rule', async () => {
    const first = await world.core();
    const id = await first.studies.create({ ...definition, seeds: [1, 2, 3, 4] });
    await first.dispose();
    const addRun = (place: string, outcome: Outcome, iterations = 200) => {
      const points = seriesOf(outcome, { iterations, fall: 80 }).filter(({ iteration }) => iteration > 0);
      world.run(`${id}-${place}`, journal.complete(points));
      return labelRun(points, small['rollout.groups'], small['rollout.group_size']);
    };
    // One group per iteration makes windows of 80 iterations; the second point is too short for four of them.
    const labels = [addRun('p1-s1', 'template', 400), addRun('p1-s2', 'chaos', 400), addRun('p1-s3', 'healthy', 400)];
    addRun('p2-s1', 'template');
    expect(labels.map((label) => label?.kind)).toEqual(['template', 'chaos', 'healthy']);
    const onsets = labels.flatMap((label) => label?.collapsed ?? []).sort((a, b) => a - b);
    const second = await world.core();
    const [wide, short] = (await second.studies.get(id)).table;
    expect(wide!.cells.map(({ label }) => label)).toEqual([...labels, null]);
    const { low, high } = wilson(2, 3);
    expect(wide!.collapse).toEqual({
      ...{ n: 3, collapsed: 2, low, high, onsets },
      kinds: { template: 1, chaos: 1, healthy: 1 },
    });
    expect(short).toMatchObject({
      cells: [{ status: 'completed', label: null }, {}, {}, {}],
      collapse: null,
    });
    expect(markdownTable(studyTable(await second.studies.get(id)))).toMatch(
      /\| 2 of 3 \(20\.8 % to 93\.9 %\), from iter/,
    );
    // A resumed run is labeled again.
    appendFileSync(
      join(world.home, 'runs', `${id}-p1-s3`, 'events.jsonl'),
      `${journal.started(402)}\n${journal.iteration(403, 401)}\n`,
    );
    await second.supervisor.scanNow();
    await untilRun(second, `${id}-p1-s3`, ({ iteration }) => iteration !== 400);
    expect((await second.studies.get(id)).table[0]).toMatchObject({ collapse: { n: 2, collapsed: 2 } });
    await world.end();
    const { output } = await starpoHere(['sweep', 'show', id], world.environment());
    expect(output).toMatch(/COLLAPSED +OUTCOME/);
    expect(output).toContain(
      `2 of 2 (34.2 % to 100.0 %), from iterations ${onsets.join(' and ')}  1 template, 1 chaos`,
    );
    expect(output).toMatch(/^wide .* - +-$/m);
  });

  test('reports no collapse if no run is long enough for a label', async () => {
    const core = await world.core();
    const id = await core.studies.create(definition);
    await world.end();
    const { output } = await starpoHere(['sweep', 'show', id], world.environment());
    expect(output).toContain('LAST 2 ITERATIONS');
    expect(output).not.toMatch(/collapsed/i);
  });

  test('lists few onsets one by one and many as a range', () => {
    const words = (onsets: number[]) =>
      collapseInWords({ n: 9, collapsed: onsets.length, low: 0, high: 1, onsets, kinds: { healthy: 9 } }).from;
    expect(words([])).toBeNull();
    expect(words([51])).toBe('from iteration 51');
    expect(words([51, 51])).toBe('from iteration 51');
    expect(words([51, 71, 90])).toBe('from iterations 51, 71 and 90');
    expect(words([1, 2, 3, 4, 5, 60])).toBe('from iterations between 1 and 60');
  });

  test('is created, listed, started, canceled and deleted in the CLI', async () => {
    const run = (...args: string[]) => starpoHere(['sweep', ...args], world.environment());
    const file = join(world.folder, 'study.json');
    writeFileSync(file, JSON.stringify({ ...definition, sets: {} }));
    expect(await run('new', file)).toMatchObject({
      status: 2,
      errors: expect.stringContaining('study_invalid'),
    });
    writeFileSync(file, '{"name": "x"}');
    expect((await run('new', file)).errors).toContain(
      `error: ${file} is not a valid sweep: base is missing (and 2 more problems).\n`,
    );
    for (const wrong of [{ name: 'two\nlines' }, { name: ' ' }, { base: { run: 'any', preset: 'starter-bandit' } }]) {
      writeFileSync(file, JSON.stringify({ ...definition, ...wrong }));
      expect(await run('new', file)).toMatchObject({ status: 2, errors: expect.stringContaining('study_invalid') });
    }
    writeFileSync(file, JSON.stringify({ ...definition, base: { run: 'a name' } }));
    expect((await run('new', file)).errors).toContain('run_unknown');
    writeFileSync(file, JSON.stringify(definition));
    const { output: id } = await run('new', file);
    expect(await run('list')).toMatchObject({
      output: expect.stringMatching(/Clip width +created +0\/4 +2 x 2/),
    });
    expect(await run('start', id)).toMatchObject({
      status: 0,
      output: expect.stringContaining('4 of 4 runs'),
    });
    await starpoHere(['queue', 'run'], world.environment());
    expect(await run('cancel', id)).toMatchObject({ status: 0, output: 'completed: 4 of 4 runs' });
    const { output } = await run('show', id);
    expect(output).toMatch(/wide +2\/2 +2 \/ 2 +40\.0 % \(40\.0 % and 40\.0 %\)/);
    expect(JSON.parse((await run('show', id, '--json')).output)).toMatchObject({
      summary: { state: 'completed' },
    });
    expect(output).toMatch(/^levels +panel [0-9a-f]{8}$/m);
    expect(await run('cancel', id)).toMatchObject({ status: 0 });
    const { status, output: deleted } = await run('delete', id, '--runs');
    expect(status).toBe(0);
    const [first, ...runs] = deleted.split('\n');
    expect(first).toBe(`moved ${id} (Clip width) to the trash`);
    expect(runs.filter((line) => / to the trash$/.test(line))).toHaveLength(4);
    expect(await run('show', id)).toMatchObject({
      status: 2,
      errors: expect.stringContaining('study_unknown'),
    });
    const trash = (...args: string[]) => starpoHere(['trash', ...args], world.environment());
    expect((await trash('list')).output).toMatch(new RegExp(`^${id} +sweep +Clip width +\\d{4}-`, 'm'));
    expect(JSON.parse((await trash('list', '--json')).output)).toContainEqual(
      expect.objectContaining({ studyId: id, name: 'Clip width', until: expect.any(Number) }),
    );
    expect(await trash('restore', id)).toMatchObject({ status: 0, output: expect.stringContaining(id) });
    expect(await run('show', id)).toMatchObject({ status: 0 });
    expect((await trash('list', '--json')).output).not.toContain('studyId');
  });

  test('is found by its id, its name or a part of its id', async () => {
    const core = await world.core();
    const id = await core.studies.create(definition);
    const [one, other] = [
      await core.studies.create({ ...definition, name: 'Groups' }),
      await core.studies.create({ ...definition, name: 'Groups' }),
    ];
    writeFileSync(join(world.home, 'studies', 'damaged.json'), '{}');
    await world.end();
    const run = (...args: string[]) => starpoHere(args, world.environment());
    for (const reference of ['Clip width', 'clip-w', id.slice(-4)])
      expect((await run('sweep', 'show', reference)).output, reference).toContain(`Clip width (${id})`);
    expect((await run('export', 'Clip width', '--as', 'markdown')).output).toContain('as shipped');
    const { status, errors } = await run('sweep', 'show', 'Groups');
    expect(status).toBe(2);
    expect(errors).toMatch(/matches 2 sweeps[\s\S]*study_ambiguous/);
    for (const each of [one, other]) expect(errors).toContain(`${each} (Groups)`);
    for (const unknown of ['Clip with', `${id}x`]) {
      const shown = await run('sweep', 'show', unknown);
      expect(shown).toMatchObject({ status: 2, errors: expect.stringContaining('study_unknown') });
      expect(shown.errors).not.toContain('.ts');
    }
    expect((await run('sweep', 'show', `${id}x`)).errors).toContain(`Did you mean ${id}?`);
    expect((await run('sweep', 'show', 'damaged')).errors).toContain('study_unreadable');
  });
});

function many(count: number) {
  return Array.from({ length: count }, (_, index) => ({ name: `point ${index}`, set: {} }));
}

describe('the confidence interval over seeds', () => {
  test("uses Student's t distribution", () => {
    // 0.6 ± 4.302653 * 0.1 / √3.
    const { n, mean, low, high } = estimateShare([0.5, 0.6, 0.7])!;
    expect(n).toBe(3);
    expect(mean).toBeCloseTo(0.6, 12);
    expect(low).toBeCloseTo(0.3515862, 4);
    expect(high).toBeCloseTo(0.8484138, 4);
  });

  test('approximates beyond the table and needs three values', () => {
    expect(studentQuantile(30)).toBe(2.042);
    expect(studentQuantile(31)).toBeCloseTo(2.039513, 5);
    expect(studentQuantile(100)).toBeCloseTo(1.983972, 5);
    expect(estimateShare([])).toBeNull();
    expect(estimateShare([0.4])).toEqual({ n: 1, values: [0.4], mean: 0.4, low: null, high: null });
    expect(estimateShare([0.3, 0.5])).toEqual({ n: 2, values: [0.3, 0.5], mean: 0.4, low: null, high: null });
    // 0.5 ± 4.303 * 0.5 / √3, clipped to the range of a share.
    expect(estimateShare([0, 0.5, 1])).toMatchObject({ n: 3, mean: 0.5, low: 0, high: 1 });
  });
});
