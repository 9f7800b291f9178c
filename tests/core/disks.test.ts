import {
  appendFileSync,
  chmodSync,
  chownSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createClient } from '../../core/contract/client.ts';
import { databaseFiles } from '../../core/history/files.ts';
import { commandLine } from '../command-line.ts';
import { Child } from './fixtures/child.ts';
import { fill, mountDisk, mountReadOnly, needsRoot, needsSharedFolders, unmountAll } from './fixtures/disks.ts';
import * as journal from './fixtures/journal.ts';
import { untilRun, World } from './fixtures/world.ts';

const id = 'some-run';
const lines = [journal.started(0), journal.iteration(1, 1), journal.stopped(2, 1)];

describe.skipIf(needsRoot)(`disks and permissions${needsRoot}`, { timeout: 60_000 }, () => {
  let world: World;
  beforeEach(() => {
    world = new World({ thread: true });
  });
  afterEach(async () => {
    await world.end();
    unmountAll();
    await world.close();
  });

  describe.skipIf(needsSharedFolders)(`a data folder of two users${needsSharedFolders}`, () => {
    const owner = { uid: 65_534, gid: 65_534 };
    const other = { uid: 64_321, gid: 65_534 };
    const run = (user: typeof owner, ...args: string[]) =>
      new Child(commandLine, args, world.environment({ HOME: world.folder }), user).finished;
    const give = (path: string, { uid, gid }: typeof owner) => chownSync(path, uid, gid);

    beforeEach(async () => {
      world.run(id, lines);
      chmodSync(world.folder, 0o755);
      for (const name of readdirSync(world.home, { recursive: true })) give(join(world.home, String(name)), owner);
      give(world.home, owner);
      for (const folder of [world.home, join(world.home, 'runs')]) chmodSync(folder, 0o775);
      expect(await run(owner, 'runs')).toMatchObject({ status: 0, errors: '' });
    });

    test('shows the second user its runs, names the file and owner if they change one, and leaves no file', async () => {
      const before = readdirSync(world.home);
      expect(await run(other, 'runs')).toMatchObject({ status: 0, output: expect.stringContaining(id) });
      const { status, errors } = await run(other, 'star', id);
      expect(status).toBe(1);
      expect(errors).toContain(`${join(world.home, 'studio.lock')} can't be written: it belongs to nobody.`);
      expect(errors).toContain('details: data_folder_read_only');
      expect(readdirSync(world.home)).toEqual(before);
      expect(await run(owner, 'star', id)).toMatchObject({ status: 0, errors: '' });
    });

    test('is shown to its owner if all its files are read-only', async () => {
      const files = readdirSync(world.home, { recursive: true, withFileTypes: true });
      for (const { parentPath, name } of files) {
        const path = join(parentPath, name);
        chmodSync(path, statSync(path).mode & 0o555);
      }
      chmodSync(world.home, 0o555);
      expect(await run(owner, 'runs')).toMatchObject({ status: 0, output: expect.stringContaining(id) });
      expect((await run(owner, 'star', id)).errors).toContain('details: data_folder_read_only');
    });

    test('is repaired by `history rebuild` after another user left database files', async () => {
      for (const file of databaseFiles(world.home).slice(1)) {
        writeFileSync(file, '');
        give(file, other);
      }
      const { status, errors } = await run(owner, 'star', id);
      expect(status).toBe(1);
      expect(errors).toContain("studio.db-wal can't be written: it belongs to user 64321.");
      expect(await run(owner, 'history', 'rebuild')).toMatchObject({ status: 0, errors: '' });
      expect(await run(owner, 'star', id)).toMatchObject({ status: 0, errors: '' });
    });
  });

  test('a read-only data folder shows its runs, follows them, rejects changes and stays unchanged', async () => {
    const folder = world.run(id, lines.slice(0, 2));
    await (await world.core()).dispose();
    const home = join(world.folder, 'view');
    mountReadOnly(world.home, home);
    const before = readdirSync(world.home);
    const core = await world.core(undefined, { home });
    expect(core.runs.get(id)).toMatchObject({ status: 'interrupted', iteration: 1 });
    const ended = untilRun(core, id, ({ status }) => status === 'completed');
    appendFileSync(join(folder, 'events.jsonl'), `${journal.iteration(2, 2)}\n${journal.stopped(3, 2)}\n`);
    expect(await ended).toMatchObject({ iteration: 2 });
    await core.dispose();

    // A page of another process on the same folder.
    const client = createClient(await (await world.studio({ home })).open());
    expect((await client.call('system.info', {})).readOnly).toMatchObject({ code: 'data_folder_read_only' });
    await expect(client.call('runs.annotate', { runId: id, starred: true })).rejects.toMatchObject({
      code: 'data_folder_read_only',
      message: expect.stringContaining(`${home} can't be written: the disk is mounted read-only.`),
    });
    // Exports don't change the data folder.
    for (const made of [
      await client.call('exports.make', { of: { runId: id }, format: 'csv' }),
      await client.call('bundles.export', { runId: id, checkpoints: 'none', episodes: 'none' }),
      await client.call('machine.diagnostics', {}),
    ]) {
      const file = join(made.folder, made.files[0]!.name);
      expect(statSync(file).size).toBeGreaterThan(0);
      await client.call('exports.forget', { exportId: made.exportId });
      expect(existsSync(file)).toBe(false);
    }
    expect(readdirSync(world.home)).toEqual(before);
    expect(world.logged).toEqual([]);
  });

  test('on a full disk, runs are listed, deleted and freed, and nothing is lost', async () => {
    rmSync(world.home, { recursive: true });
    mountDisk(world.home, 4);
    world.run(id, lines);
    world.run('other-run', lines);
    await (await world.core()).dispose();
    writeFileSync(join(world.home, 'runs', id, 'trainer.log'), Buffer.alloc(1 << 20));
    appendFileSync(join(world.home, 'runs/other-run/events.jsonl'), `${journal.log(3, 'new')}\n`);
    fill(world.home);

    const client = createClient(await (await world.studio()).open());
    expect((await client.call('runs.list', {})).map((run) => run.id).sort()).toEqual(['other-run', id]);
    expect(world.logged).toContainEqual(expect.stringMatching(/^The disk of .+ is full\./));
    expect(await client.call('runs.delete', { runIds: [id] })).toMatchObject({ deleted: [{ runId: id }], refused: [] });
    expect((await client.call('runs.list', {})).map((run) => run.id)).toEqual(['other-run']);
    await expect(client.call('runs.annotate', { runId: 'other-run', note: 'x'.repeat(9000) })).rejects.toMatchObject({
      code: 'disk_full',
      message: expect.stringContaining('annotations.jsonl'),
    });
    expect((await client.call('trash.empty', {})).bytes).toBeGreaterThan(1 << 20);
    await world.end();
    const core = await world.core();
    expect(core.runs.list().map((run) => run.id)).toEqual(['other-run']);
    expect(core.runs.get('other-run')).toMatchObject({ status: 'completed', iteration: 1 });
  });

  test('runs on another disk are deleted, restored and deleted permanently', async () => {
    const disk = join(world.folder, 'disk');
    mountDisk(disk, 8);
    rmSync(join(world.home, 'runs'), { recursive: true });
    symlinkSync(disk, join(world.home, 'runs'));
    const folder = world.run(id, lines);
    const content = readFileSync(join(folder, 'events.jsonl'));
    const core = await world.core();
    const { deleted } = await core.trash.delete([id]);
    expect(readdirSync(disk)).toEqual([]);
    expect(await core.trash.restore(deleted.map((each) => each.id))).toEqual([id]);
    expect(readFileSync(join(folder, 'events.jsonl')).equals(content)).toBe(true);
    expect(readdirSync(join(world.home, 'trash'))).toEqual([]);
    await core.trash.delete([id]);
    await core.trash.empty();
    expect([existsSync(folder), readdirSync(join(world.home, 'trash'))]).toEqual([false, []]);
  });
});
