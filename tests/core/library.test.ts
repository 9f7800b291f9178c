import {
  createWriteStream,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  truncateSync,
  watch,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import yazl from 'yazl';
import { type Client, createClient } from '../../core/contract/client.ts';
import type { Handlers, Task } from '../../core/contract/contract.ts';
import type { Core } from '../../core/index.ts';
import { retention } from '../../core/run-library/trash.ts';
import { createHandlers } from '../../core/server/handlers.ts';
import { starpo } from './fixtures/child.ts';
import { starpoHere } from './fixtures/command.ts';
import { fakeRollout } from './fixtures/fake-rollout.mjs';
import * as journal from './fixtures/journal.ts';
import { collectNotices, untilRun, World } from './fixtures/world.ts';

const ended = [
  journal.started(0),
  journal.evaluation(1, 0, 0.3),
  journal.iteration(2, 1),
  journal.evaluation(3, 20, 0.7),
  journal.evaluation(4, 40, 0.5),
  journal.stopped(5, 60),
];

describe('the run library', { timeout: 120_000 }, () => {
  let world: World;
  let core: Core;
  let call: Handlers;
  beforeEach(async () => {
    world = new World();
    world.run('one', ended);
    world.run('two', ended);
    core = await world.core();
    call = createHandlers(core);
  });
  afterEach(async () => {
    vi.unstubAllEnvs();
    await world.close();
  });
  const folder = (runId: string) => join(world.home, 'runs', runId);

  /** Writes checkpoints of `bytes` bytes each. */
  function writeCheckpoints(runId: string, iterations: readonly number[], bytes = 1000): void {
    for (const iteration of iterations) {
      const path = join(folder(runId), 'checkpoints', String(iteration).padStart(6, '0'));
      mkdirSync(path, { recursive: true });
      writeFileSync(join(path, 'model.safetensors'), 'x'.repeat(bytes));
    }
  }

  /** Creates a run with training and evaluation episodes. */
  function createPlayedRun(runId: string): void {
    const lines = [journal.started(0)];
    mkdirSync(join(world.home, 'runs', runId, 'rollouts'), { recursive: true });
    const lake = { type: 'frozen-lake', label: 'frozen-lake', success: 0.5 };
    for (const [iteration, split] of [
      [0, 'frozen-lake'],
      [1, 'train'],
      [2, 'train'],
    ] as const) {
      const rollout = fakeRollout(folder(runId), {}, iteration, split, lake, 2, 4);
      lines.push(JSON.stringify({ v: 1, seq: lines.length, time: lines.length, type: 'rollout', ...rollout }));
    }
    lines.push(journal.stopped(lines.length, 2));
    world.run(runId, lines);
  }

  test('sets and clears the display name of a run', async () => {
    await core.annotations.annotate({ runId: 'one', name: '  The good one ' });
    expect(core.runs.get('one')).toMatchObject({ name: 'The good one', marks: { name: 'The good one' } });
    await core.supervisor.rebuild();
    expect(core.runs.get('one').name).toBe('The good one');
    await core.annotations.annotate({ runId: 'one', name: '' });
    expect(core.runs.get('one').name).toBe('one');
    expect(core.runs.get('one')).toMatchObject({
      algorithm: expect.stringMatching(/^StarPO/),
      machine: { host: 'elsewhere', device: 'cpu', threads: 2 },
    });
  });

  test('moves runs to the trash, restores them and deletes them permanently', async () => {
    const removed = collectNotices(core, 'removed');
    await core.annotations.annotate({ runId: 'one', name: 'Mine', addTags: ['kept'] });
    const { deleted, refused } = await core.trash.delete(['one', 'none', 'two']);
    expect(refused).toMatchObject([{ runId: 'none', error: { code: 'run_unknown' } }]);
    expect(removed).toHaveLength(2);
    expect(core.runs.list()).toEqual([]);
    expect(deleted.map(({ name }) => name).sort()).toEqual(['Mine', 'two']);
    expect((await core.sizes.all()).trash).toBe(deleted.reduce((sum, { bytes }) => sum + bytes, 0));

    const mine = deleted.find(({ runId }) => runId === 'one')!;
    expect(await core.trash.restore([mine.id])).toEqual(['one']);
    expect(core.runs.get('one')).toMatchObject({ name: 'Mine', iteration: 1, marks: { tags: ['kept'] } });
    await expect(core.trash.restore([mine.id])).rejects.toMatchObject({
      code: 'trash_unknown',
      hint: 'It was already restored, or permanently deleted.',
    });

    const [two] = await core.trash.list();
    await core.trash.deleteExpired(two!.deletedAt + retention);
    expect(await core.trash.list()).toHaveLength(1);
    await core.trash.deleteExpired(two!.deletedAt + retention + 1);
    expect(await core.trash.list()).toEqual([]);
    await core.trash.delete(['one']);
    expect(await core.trash.empty()).toBeGreaterThan(100);
    expect(readdirSync(join(world.home, 'trash'))).toEqual([]);
  });

  test('does not delete, clean or archive a running or paused run', async () => {
    vi.stubEnv('FAKE_TRAINER_HOLD', '2');
    const runId = await core.runs.create({ preset: 'starter-frozen-lake', set: { iterations: 4 } });
    await core.runs.start(runId);
    await untilRun(core, runId, ({ iteration }) => iteration === 2);
    await core.runs.command(runId, 'pause');
    await untilRun(core, runId, ({ status }) => status === 'paused');
    for (const answer of [
      await core.trash.delete([runId]),
      await core.cleaner.clean([runId], { episodes: true, checkpoints: true }),
    ])
      expect(answer.refused).toMatchObject([{ runId, error: { code: 'run_active' } }]);
    await expect(core.annotations.annotate({ runId, archived: true })).rejects.toMatchObject({
      code: 'run_active',
    });
    await core.runs.command(runId, 'stop');
    await untilRun(core, runId, ({ status }) => status === 'stopped');
    await core.annotations.annotate({ runId, archived: true });
    core.queue.add(runId);
    expect((await core.trash.delete([runId])).refused).toEqual([]);
    expect(core.queue.list()).toEqual([]);
  });

  test("a run that can't be deleted stays in the queue", async () => {
    world.run('waits');
    writeCheckpoints('waits', [2]);
    const model = join(folder('waits'), 'checkpoints/000002');
    const config = JSON.parse(readFileSync(join(world.run('fork'), 'run.json'), 'utf8'));
    writeFileSync(
      join(folder('fork'), 'run.json'),
      JSON.stringify({
        ...config,
        parent: { run: 'waits', iteration: 2 },
        start: { ...config.start, model },
      }),
    );
    for (const id of ['waits', 'fork']) await core.supervisor.add(id);
    writeFileSync(join(model, 'trainer-state.safetensors'), '');
    core.queue.add('waits');
    expect(await core.trash.delete(['waits'])).toMatchObject({
      refused: [{ error: { code: 'run_needed' } }],
    });
    expect(core.queue.list()).toEqual(['waits']);
    expect(await core.trash.delete(['waits', 'fork'])).toMatchObject({ refused: [] });
    expect(core.queue.list()).toEqual([]);
    const entries = (await core.trash.list()).map(({ id }) => id);
    expect(await core.trash.restore([...entries, ...entries])).toHaveLength(2);
  });

  test('a run whose checkpoint another run starts from is kept, also if that run is not a fork', async () => {
    world.run('start');
    writeCheckpoints('start', [2]);
    const config = JSON.parse(readFileSync(join(world.run('other'), 'run.json'), 'utf8'));
    const model = join(folder('start'), 'checkpoints/000002');
    writeFileSync(join(folder('other'), 'run.json'), JSON.stringify({ ...config, start: { ...config.start, model } }));
    for (const id of ['start', 'other']) await core.supervisor.add(id);
    expect(await core.trash.delete(['start'])).toMatchObject({ refused: [{ error: { code: 'run_needed' } }] });
  });

  test('a run whose checkpoint is the reference model of a stopped run is kept', async () => {
    world.run('reference');
    writeCheckpoints('reference', [2]);
    const lines = [journal.started(0), journal.iteration(1, 1), journal.stopped(2, 1, 'command')];
    const config = JSON.parse(readFileSync(join(world.run('stopped', lines), 'run.json'), 'utf8'));
    writeCheckpoints('stopped', [1]);
    const reference = join(folder('reference'), 'checkpoints/000002');
    for (const [coefficient, refused] of [
      [0, []],
      [0.1, [{ error: { code: 'run_needed' } }]],
    ] as const) {
      const kl = { ...config.kl, reference, coefficient };
      writeFileSync(join(folder('stopped'), 'run.json'), JSON.stringify({ ...config, kl }));
      for (const id of ['reference', 'stopped']) await core.supervisor.add(id);
      const deleted = await core.trash.delete(['reference']);
      expect(deleted).toMatchObject({ refused });
      if (refused.length === 0) await core.trash.restore((await core.trash.list()).map(({ id }) => id));
    }
  });

  test('frees space and keeps pinned checkpoints and those that forks start from', async () => {
    createPlayedRun('played');
    writeCheckpoints('played', [0, 20, 40, 60, 80, 100]);
    writeFileSync(join(folder('played'), 'checkpoints/000060/pinned'), '');
    await core.supervisor.add('played');
    const config = JSON.parse(readFileSync(join(folder('played'), 'run.json'), 'utf8'));
    const model = join(folder('played'), 'checkpoints/000040');
    world.run('fork');
    writeFileSync(
      join(folder('fork'), 'run.json'),
      JSON.stringify({
        ...config,
        parent: { run: 'played', iteration: 40 },
        start: { ...config.start, model },
      }),
    );
    await core.supervisor.add('fork');

    expect(await core.trash.delete(['played'])).toMatchObject({
      refused: [{ error: { code: 'run_needed', message: expect.stringContaining('fork') } }],
    });
    const freeable = await core.cleaner.estimate(['played']);
    expect(freeable.checkpoints).toBe(2000);
    const { bytes } = await core.cleaner.clean(['played'], { episodes: true, checkpoints: true });
    expect(bytes).toBe(freeable.episodes + 2000);
    expect((await core.checkpoints.list('played')).map(({ iteration }) => iteration)).toEqual([100, 60, 40, 0]);
    expect((await call['rollouts.list']({ runId: 'played' })).map(({ split }) => split)).toEqual(['frozen-lake']);
    const deleted = { runId: 'played', iteration: 1, split: 'train' };
    await expect(call['rollouts.episodes'](deleted)).rejects.toMatchObject({ code: 'rollout_gone' });
    await core.supervisor.rebuild();
    expect(await call['rollouts.list']({ runId: 'played' })).toHaveLength(1);
  });

  test('freeing space is a task with progress that can be canceled', async () => {
    writeCheckpoints('one', [20, 40, 60, 80, 100]);
    writeCheckpoints('two', [20, 40, 60, 80, 100]);
    for (const runId of ['one', 'two']) await core.supervisor.add(runId);
    const freeable = await core.cleaner.estimate(['one', 'two']);
    const published: Task[] = [];
    const stop = core.notices.on((name, payload) => {
      // The checkpoints of the first run were just deleted.
      if (name === 'checkpoints') void core.tasks.cancel(core.tasks.list()[0]!.id);
      if (name === 'task') published.push(payload as Task);
    });
    const parts = { episodes: true, checkpoints: true };
    const { bytes } = await call['runs.clean']({ runIds: ['one', 'two'], ...parts });
    stop();
    expect(bytes).toBe(freeable.checkpoints / 2);
    expect(published[0]).toMatchObject({ kind: 'clean', runId: null, cancelable: true, state: 'running' });
    expect(published.at(-1)).toMatchObject({ done: expect.any(Number), total: 200 });
    expect(await core.checkpoints.list('two')).toHaveLength(5);
    await call['runs.clean']({ runIds: ['two'], ...parts });
    expect(await core.cleaner.estimate(['one', 'two'])).toEqual({ episodes: 0, checkpoints: 0, refused: [] });
    expect(core.tasks.list()).toEqual([]);
  });

  test('lists, pins and unpins checkpoints, with their success', async () => {
    writeCheckpoints('one', [20, 40], 500);
    expect(await core.checkpoints.list('one')).toMatchObject([
      { iteration: 40, bytes: 500, pinned: false, optimizer: false, success: [{ rate: 0.5 }] },
      { iteration: 20, success: [{ label: 'frozen-lake', rate: 0.7 }] },
    ]);
    await core.checkpoints.pin('one', 20, true);
    await core.checkpoints.pin('one', 20, true);
    expect((await core.checkpoints.list('one')).map(({ pinned }) => pinned)).toEqual([false, true]);
    await core.checkpoints.pin('one', 20, false);
    expect((await core.checkpoints.list('one'))[1]!.pinned).toBe(false);
    await expect(core.checkpoints.pin('one', 21, true)).rejects.toMatchObject({ code: 'checkpoint_missing' });
  });

  test("a requested evaluation with the run's settings is a checkpoint's success; others are not", async () => {
    writeCheckpoints('one', [20, 30, 40], 500);
    const example = JSON.parse(readFileSync('docs/formats/examples/evaluation.json', 'utf8'));
    const config = JSON.parse(readFileSync(join(folder('one'), 'run.json'), 'utf8'));
    const { levels, temperature } = config.evaluation;
    const { share: _share, validate: _validate, ...environment } = config.environments[0];
    const { top_p: _p, top_k: _k, min_p: _m, ...earlier } = example;
    const own = { ...earlier, levels, temperature, seed: config.levels.validation_seed, environment };
    const metrics = { 'evaluation/frozen-lake/success_rate': 0.9 };
    const newer = { ...own, checkpoint: 30, time: own.time + 1, metrics };
    mkdirSync(join(folder('one'), 'evaluations'));
    const results = [
      { ...own, name: 'same', checkpoint: 30 },
      { ...own, name: 'again', checkpoint: 40 },
      { ...newer, name: 'warmer', temperature: 1 },
      { ...newer, name: 'truncated', top_p: 0.9 },
    ];
    for (const result of results)
      writeFileSync(join(folder('one'), 'evaluations', `${result.name}.json`), JSON.stringify(result));
    expect((await core.checkpoints.list('one')).map(({ success }) => success)).toEqual([
      [{ label: 'frozen-lake', rate: 0.5 }],
      [{ label: 'frozen-lake', rate: 0.3125 }],
      [{ label: 'frozen-lake', rate: 0.7 }],
    ]);
  });

  test('searches the text of episodes and drops those whose files are deleted', async () => {
    createPlayedRun('played');
    await core.supervisor.add('played');
    const search = (text: string, filter: object = {}) => call['episodes.search']({ text, ...filter });
    expect(await search('player')).toMatchObject({ episodes: [], indexed: 0, pending: 3 });
    await core.episodeIndex.indexAll();

    const all = await search('player');
    expect(all).toMatchObject({ indexed: 24, pending: 0, more: false });
    expect(all.episodes).toHaveLength(24);
    expect(all.episodes[0]).toMatchObject({ run: 'played', iteration: 2, split: 'train' });
    expect(all.episodes[0]!.excerpt).toContain('\u0002player\u0003');
    expect((await search('play')).episodes).toHaveLength(24);
    expect((await search('"0 player"')).episodes).toEqual([]);
    expect((await search('"goal 3"')).episodes).toHaveLength(24);
    // SQLite's query syntax is plain text here.
    for (const odd of ['player OR', 'NEAR(', '"', 'text:player', '*', "'; DROP TABLE runs", '😀 {', '^'])
      expect((await search(odd)).episodes).toBeInstanceOf(Array);
    const wins = await search('player', { success: true, runId: 'played', environment: 'frozen-lake' });
    expect(wins.episodes.length).toBeGreaterThan(0);
    expect(wins.episodes.every(({ success }) => success)).toBe(true);
    expect((await search('', { runId: 'one' })).episodes).toEqual([]);
    const page = await search('player', { offset: 20, limit: 3 });
    expect(page).toMatchObject({ more: true });
    expect(page.episodes).toEqual(all.episodes.slice(20, 23));

    await core.cleaner.clean(['played'], { episodes: true, checkpoints: false });
    expect((await search('player')).episodes).toHaveLength(8);
    await core.trash.delete(['played']);
    expect(await search('player')).toMatchObject({ episodes: [], indexed: 0 });
    expect(core.database.prepare('SELECT count(*) AS n FROM episode_text').get()).toEqual({ n: 0 });
  });

  describe('a bundle', () => {
    async function importBundle(content: Buffer, name?: string): Promise<string> {
      const { file, path } = await call['uploads.begin']({});
      writeFileSync(path, content);
      try {
        return (await call['imports.run']({ uploads: [{ file, name: 'run.zip' }], key: 'run.zip', name })).runId;
      } finally {
        await call['uploads.drop']({ files: [file] });
      }
    }
    const manifest = { format: 'starpo-studio-run', version: 1, run: 'x', name: 'X', time: 1, studio: '1' };
    type File = [name: string, content: string, mode?: number];
    /** Returns a zip file with a manifest and the given files. */
    async function zip(files: File[], head: object = manifest): Promise<Buffer> {
      const made = new yazl.ZipFile();
      made.addBuffer(Buffer.from(JSON.stringify(head)), 'bundle.json');
      for (const [name, content, mode = 0o100644] of files)
        if (name.endsWith('/')) made.addEmptyDirectory(name);
        else made.addBuffer(Buffer.from(content), name, { mode });
      made.end();
      const path = join(world.folder, 'made.zip');
      await pipeline(made.outputStream, createWriteStream(path));
      // Zip libraries refuse to write such paths. The slash keeps compressed data unchanged.
      return Buffer.from(readFileSync(path).toString('latin1').replaceAll('AA/', '../'), 'latin1');
    }
    const runJson = (): File => ['run/run.json', readFileSync(join(folder('one'), 'run.json'), 'utf8')];

    test('contains the chosen parts of a run and is imported under a new id', async () => {
      createPlayedRun('played');
      writeCheckpoints('played', [0, 20], 700_000);
      for (const file of ['control.jsonl', 'trainer.lock', 'checkpoints/notes'])
        writeFileSync(join(folder('played'), file), 'x');
      await core.supervisor.add('played');
      await core.annotations.annotate({ runId: 'played', name: 'Mine', note: 'good' });
      const tasks = collectNotices(core, 'task');
      const { exportId, folder: made } = await call['bundles.export']({
        ...{ runId: 'played', checkpoints: 'newest', episodes: 'evaluations' },
      });
      const content = readFileSync(join(made, 'Mine.starpo.zip'));
      await call['exports.forget']({ exportId });

      const renamed = await importBundle(content, 'Theirs');
      expect(core.runs.get(renamed)).toMatchObject({ name: 'Theirs', marks: { note: 'good' } });
      const copy = await importBundle(content);
      expect(copy).toMatch(/^played-[0-9a-f]{4}$/);
      expect(core.runs.get(copy)).toMatchObject({
        name: 'Mine',
        marks: { note: 'good' },
        status: 'completed',
      });
      expect((await core.checkpoints.list(copy)).map(({ iteration }) => iteration)).toEqual([20]);
      expect(readdirSync(folder(copy)).sort()).toEqual([
        'annotations.jsonl',
        'checkpoints',
        'events.jsonl',
        'rollouts',
        'run.json',
      ]);
      expect(readdirSync(join(folder(copy), 'rollouts'))).toHaveLength(2);
      const kinds = tasks.map(({ kind }) => kind);
      expect(kinds).toContain('export_bundle');
      expect(kinds).toContain('import');
      expect(readdirSync(join(world.home, 'exchange'))).toEqual([]);
    });

    test('that a file manager zipped again, with entries for folders, is imported', async () => {
      const again = await zip([['run/', ''], ['run/rollouts/', ''], runJson(), ['run/trainer.log', 'a']]);
      const runId = await importBundle(again);
      expect(readdirSync(folder(runId)).sort()).toEqual(['run.json', 'trainer.log']);
    });

    test.each<[string, (own: File) => File[], object?]>([
      ['a path out of the run', (own) => [own, ['run/rollouts/AA/AA/AA/AA/x', 'x']]],
      ['a path that starts with ..', (own) => [own, ['AA/AA/AA/etc/x', 'x']]],
      ['commands for a trainer', (own) => [own, ['run/control.jsonl', '{}']]],
      ['an unknown file', (own) => [own, ['run/.bashrc', 'x']]],
      ['a link', (own) => [own, ['run/trainer.log', '/etc/passwd', 0o120777]]],
      ['a file twice', (own) => [own, ['run/trainer.log', 'a'], ['run/trainer.log', 'b']]],
      ['a configuration of megabytes', () => [['run/run.json', `[${'0,'.repeat(1 << 19)}0]`]]],
      ['no configuration', () => [['run/trainer.log', 'a']]],
      ['the manifest of another format', (own) => [own], { format: 'cake', version: 1 }],
    ])('with %s is rejected', async (_, files, head) => {
      const before = readdirSync(join(world.home, 'runs'));
      const content = await zip(files(runJson()), head);
      await expect(importBundle(content)).rejects.toMatchObject({ code: 'bundle_invalid' });
      expect(readdirSync(join(world.home, 'runs'))).toEqual(before);
    });

    test('is rejected if newer, damaged, truncated or with wrong sizes', async () => {
      const good = await zip([runJson(), ['run/trainer.log', 'a'.repeat(5000)]]);
      const newer = await zip([runJson()], { ...manifest, version: 2 });
      await expect(importBundle(newer)).rejects.toMatchObject({ code: 'bundle_version_unsupported' });
      await expect(importBundle(Buffer.from('no zip'))).rejects.toMatchObject({ code: 'import_empty' });
      await expect(importBundle(good.subarray(0, good.length - 30))).rejects.toMatchObject({
        code: 'bundle_invalid',
      });
      // The log's size and checksum are in the directory at the end of the zip.
      const entry = good.lastIndexOf('run/trainer.log') - 46;
      const changedAt = (at: number, value: number) => {
        const changed = Buffer.from(good);
        changed.writeUInt32LE(value, entry + at);
        return changed;
      };
      for (const content of [changedAt(24, 4000), changedAt(24, 6000), changedAt(16, 7)])
        await expect(importBundle(content)).rejects.toMatchObject({ code: 'bundle_invalid' });
      await expect(importBundle(changedAt(24, 0xfffffff0))).rejects.toMatchObject({
        code: expect.stringMatching(/^(bundle_invalid|disk_space_low)$/),
      });
      expect(readdirSync(join(world.home, 'runs')).sort()).toEqual(['one', 'two']);
      await importBundle(good);
    });

    test('is rejected if incomplete or too large; a canceled upload leaves no file', async () => {
      const { file } = await call['uploads.begin']({ bytes: 10 });
      await expect(call['imports.inspect']({ uploads: [{ file, name: 'x' }] })).rejects.toMatchObject({
        code: 'file_incomplete',
      });
      await expect(call['uploads.begin']({ bytes: 2 ** 40 })).rejects.toMatchObject({
        code: 'disk_space_low',
      });
      writeCheckpoints('one', [0], 30_000_000);
      const started = new Promise<Task>((resolve) => {
        core.notices.on((name, payload) => {
          const task = payload as Task;
          if (name === 'task' && task.kind === 'export_bundle') resolve(task);
        });
      });
      const packing = call['bundles.export']({ runId: 'one', checkpoints: 'all', episodes: 'all' });
      await core.tasks.cancel((await started).id);
      await expect(packing).rejects.toMatchObject({ code: 'task_canceled' });
      await call['uploads.drop']({ files: [file] });
      await expect(call['imports.inspect']({ uploads: [{ file, name: 'x' }] })).rejects.toMatchObject({
        code: 'file_unknown',
      });
      for (const folder of ['exchange', 'exports']) expect(readdirSync(join(world.home, folder))).toEqual([]);
    });
  });

  describe('at the command line, Ctrl+C', () => {
    /** Resolves with the name of the next matching entry in the folder. */
    function untilNamed(parent: string, pattern: RegExp): Promise<string> {
      return new Promise((resolve) => {
        const watcher = watch(parent, (_, name) => {
          if (name === null || !pattern.test(name)) return;
          watcher.close();
          resolve(name);
        });
      });
    }
    /** Resolves when the host publishes that its export task has the state. */
    const untilTask = (client: Client, state: Task['state']) =>
      new Promise<void>((resolve) => {
        client.on('task', (task) => task.kind === 'export_bundle' && task.state === state && resolve());
      });
    const canceled = { status: 130, output: '', errors: expect.stringContaining('task_canceled') };

    test('cancels an export before core has started, and leaves no file', async () => {
      await core.dispose();
      const created = untilNamed(world.folder, /^one\.zip$/);
      const packing = starpo(['bundle', 'export', 'one', join(world.folder, 'one.zip')], world.environment());
      await created;
      expect(await packing.kill('SIGINT')).toMatchObject(canceled);
      expect(readdirSync(world.folder)).not.toContain('one.zip');
    });

    test("cancels the host's export and an upload, and leaves no file of either", async () => {
      await core.dispose();
      // A sparse file, so that only reading takes long.
      writeCheckpoints('one', [20]);
      truncateSync(join(folder('one'), 'checkpoints/000020/model.safetensors'), 2 ** 32);
      const studio = await world.studio();
      const client = createClient(await studio.open());
      const started = untilTask(client, 'running');
      const ended = untilTask(client, 'canceled');
      const packing = starpo(['bundle', 'export', 'one', join(world.folder, 'one.zip')], world.environment());
      await started;
      expect(await packing.kill('SIGTERM')).toMatchObject({ ...canceled, status: 143 });
      await ended;
      expect(readdirSync(world.folder).sort()).toEqual(['home', 'resources']);
      expect(readdirSync(join(world.home, 'exports'))).toEqual([]);

      const { file } = await client.call('uploads.begin', {});
      const uploading = untilNamed(join(world.home, 'exchange'), /./);
      // An endless file.
      const importing = starpo(['import', '/dev/zero'], world.environment());
      await uploading;
      expect(await importing.kill('SIGINT')).toMatchObject(canceled);
      await client.call('uploads.drop', { files: [file] });
      expect(readdirSync(join(world.home, 'exchange'))).toEqual([]);
    });
  });

  test('is available in the CLI', async () => {
    await core.dispose();
    const run = (...args: string[]) => starpoHere(args, world.environment());
    const target = join(world.folder, 'one.zip');
    expect(await run('bundle', 'export', 'one', target)).toMatchObject({ output: target, errors: '' });
    expect((await run('bundle', 'export', 'one', target)).errors).toContain('bundle_exists');
    expect((await run('delete', 'one')).output).toMatch(/^moved one .* to the trash/);
    expect((await run('import', target)).output).toBe('one');
    expect((await run('trash', 'list')).output).toContain('one');
    expect((await run('trash', 'restore', 'one')).errors).toContain('run_exists');
    expect((await run('rename', 'one', 'Better')).output).toBe('Better');
    expect((await run('delete', 'Better')).output).toMatch(/^moved one .* to the trash/);
    expect((await run('trash', 'restore', 'two')).errors).toContain('trash_unknown');
    expect((await run('trash', 'restore', 'Better')).output).toBe('one');
    expect((await run('trash', 'empty')).output).toContain('freed');
    expect(existsSync(target)).toBe(true);
  });
});
