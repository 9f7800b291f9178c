import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Coalescer } from '../../core/base/coalescer.ts';
import { Emitter } from '../../core/base/emitter.ts';
import { ensureFolder, makeFolder } from '../../core/base/folders.ts';
import { dataFolder } from '../../core/base/home.ts';
import { KeyedMutex } from '../../core/base/keyed-mutex.ts';
import { memory } from '../../core/base/limits.ts';
import { pasteable } from '../../core/base/pasteable.ts';
import { asFailure } from '../../core/contract/failure.ts';
import { parseJson } from '../../core/contract/parse-json.ts';
import { sentence } from '../../core/contract/sentence.ts';
import { unstartable } from '../../core/trainer/trainer-error.ts';

const tick = () => new Promise((resolve) => setImmediate(resolve));

test('creates a folder and its parents, or throws the reason', () => {
  const parent = mkdtempSync(join(tmpdir(), 'starpo-folders-'));
  try {
    const folder = join(parent, 'a/b/c');
    makeFolder(folder);
    makeFolder(folder);
    expect(existsSync(folder)).toBe(true);
    const file = join(parent, 'file');
    writeFileSync(file, '');
    const reasonOf = (path: string) => {
      try {
        makeFolder(path);
        return null;
      } catch (error) {
        return asFailure(error).message;
      }
    };
    expect(reasonOf(file)).toBe(`${file} can't be created: it already exists.`);
    expect(reasonOf(join(file, 'within'))).toBe(
      `${join(file, 'within')} can't be created: a part of its path is a file.`,
    );
    expect(() => ensureFolder(join(parent, 'x/y'))).toThrow(expect.objectContaining({ code: 'ENOENT' }));
    // Node's recursive mkdir never returns here.
    if (process.platform === 'linux')
      expect(reasonOf('/proc/none/x')).toBe("/proc/none can't be created: its parent does not accept new folders.");
  } finally {
    rmSync(parent, { recursive: true });
  }
});

test('memory is that of the container if it has a limit below the machine', () => {
  const machine = totalmem();
  expect(memory({ limit: 120 << 20, available: 20 << 20 })).toEqual({ total: 120 << 20, used: 100 << 20 });
  for (const limit of [0, machine * 4]) expect(memory({ limit, available: 1 }).total).toBe(machine);
});

test.each([
  ['EMFILE', 'trainer_unusable', /too many files are open\.$/, /ulimit -n/],
  ['EACCES', 'trainer_unusable', /permission denied\.$/, /its owner and permissions/],
  ['EAGAIN', 'too_many_processes', /out of memory or processes\.$/, /ulimit -u/],
  ['ENOENT', 'trainer_unusable', /file not found/, /build it again/],
])('a trainer that fails to start with %s names the cause and the fix', (code, ours, message, hint) => {
  const error = Object.assign(new Error(`spawn /t ${code}`), { code, syscall: 'spawn /t', path: '/t' });
  expect(unstartable('/t', error)).toMatchObject({
    code: ours,
    message: expect.stringMatching(message),
    hint: expect.stringMatching(hint),
  });
});

test('a data folder whose name is not UTF-8 is rejected, because Node would use another folder', () => {
  const decoded = Buffer.from([0x2f, 0x61, 0xff]).toString();
  expect(() => dataFolder(decoded, {})).toThrow(expect.objectContaining({ code: 'data_folder_unusable' }));
  expect(() => dataFolder(undefined, { STARPO_HOME: decoded })).toThrow(/not valid UTF-8/);
  expect(dataFolder('/tmp/\u00e4', {})).toBe('/tmp/\u00e4');
});

test.each([
  ['no NVIDIA driver is installed', 'No NVIDIA driver is installed.'],
  ["can't read /a", "Can't read /a."],
  ['seed: must be 1 or more', 'seed: must be 1 or more.'],
  ['rollout.groups must be 1', 'rollout.groups must be 1.'],
  ['cuda:1 does not exist', 'cuda:1 does not exist.'],
  ['the run needs 3 GB; retry', 'The run needs 3 GB; retry.'],
  ['The disk is full.', 'The disk is full.'],
  ['', ''],
])('the clause %j of the trainer becomes the sentence %j', (clause, expected) => {
  expect(sentence(clause)).toBe(expected);
});

test.each([
  [' ', 'it is empty'],
  ['{"a": 1,', 'it ends too early'],
  ['"a', 'it ends too early'],
  ['{"a": 1\n "b": 2}', "expected ',' or '}' after property value (line 2, column 2)"],
  ['{\n  "a": NaN\n}', 'unexpected "N" (line 2, column 8)'],
  ['{}}', 'unexpected non-whitespace character (line 1, column 3)'],
])('the problem of the JSON text %j is %s', (text, problem) => {
  expect(() => parseJson(text)).toThrow(new SyntaxError(problem));
});

test('JSON may start with a byte order mark', () => {
  expect(parseJson('\uFEFF{"a": [1]}')).toEqual({ a: [1] });
});

test('no source file uses the recursive mkdir of Node', () => {
  const root = join(import.meta.dirname, '../..');
  const sources = ['core', 'electron'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
      .map((name) => join(root, folder, name)),
  );
  expect(sources.length).toBeGreaterThan(100);
  const uses = sources.filter((path) => /mkdir(?:Sync)?\([^;]*recursive/.test(readFileSync(path, 'utf8')));
  expect(uses).toEqual([]);
});

test.each([
  ['ENOSPC', 'write', 'disk_full', "/a can't be written: no space is left on the disk."],
  ['EDQUOT', 'write', 'disk_full', "/a can't be written: the disk quota is used up."],
  ['EFBIG', 'write', 'disk_full', "/a can't be written: the file size limit is reached."],
  ['EACCES', 'open', 'file_forbidden', "/a can't be opened: permission denied."],
  ['EPERM', 'unlink', 'file_forbidden', "/a can't be deleted: permission denied."],
  ['EROFS', 'mkdir', 'disk_read_only', "/a can't be created: the disk is mounted read-only."],
  ['ENOENT', 'open', 'file_missing', "/a can't be opened: file not found."],
  ['ENOTDIR', 'scandir', 'path_invalid', "/a can't be read: a part of its path is a file."],
  ['EISDIR', 'open', 'path_invalid', "/a can't be opened: it is a folder."],
  ['EEXIST', 'copyfile', 'file_exists', "/a can't be copied: it already exists."],
  ['ENOTEMPTY', 'rmdir', 'file_exists', "/a can't be deleted: the folder is not empty."],
  ['EXDEV', 'rename', 'other_disk', "/a can't be moved: its destination is on another disk."],
  ['EMFILE', 'open', 'too_many_files', "/a can't be opened: too many files are open."],
  ['ENFILE', 'open', 'too_many_files', "/a can't be opened: too many files are open."],
  ['EIO', 'read', 'disk_failed', "/a can't be read: the disk reports an input/output error."],
  ['ENAMETOOLONG', 'open', 'path_invalid', "/a can't be opened: its name is too long."],
  ['ELOOP', 'open', 'path_invalid', "/a can't be opened: too many symbolic links."],
])('%s is an error of the file, not a bug', (code, syscall, ours, message) => {
  const error = Object.assign(new Error(`${code}: something, ${syscall}`), { code, syscall, path: '/a' });
  const failure = asFailure(error);
  expect(failure).toMatchObject({ code: ours, message, hint: expect.stringMatching(/\.$/) });
  expect(failure.hint).not.toMatch(/bug|build/);
  expect(asFailure(new Error('broken invariant'))).toMatchObject({
    code: 'internal',
    hint: expect.stringContaining('bug'),
  });
});

test('an emitter calls the other handlers if one throws', () => {
  const errors: unknown[] = [];
  const received: number[] = [];
  const emitter = new Emitter<{ count: number }>((error) => errors.push(error));
  emitter.on('count', () => {
    throw new Error('broken');
  });
  const stop = emitter.on('count', (count) => received.push(count));
  emitter.emit('count', 1);
  stop();
  emitter.emit('count', 2);
  expect(received).toEqual([1]);
  expect(errors).toHaveLength(2);
});

test('a coalescer answers all requests during a run by one more run', async () => {
  let runs = 0;
  const coalescer = new Coalescer(async () => {
    runs += 1;
    await tick();
    if (runs === 3) throw new Error('broken');
  });
  const first = coalescer.request();
  expect(coalescer.isRunning).toBe(true);
  await Promise.resolve();
  await Promise.all([first, coalescer.request(), coalescer.request()]);
  expect(runs).toBe(2);
  expect(coalescer.isRunning).toBe(false);
  await expect(coalescer.request()).rejects.toThrow('broken');
  await coalescer.request();
  expect(runs).toBe(4);
});

test('a coalescer may request itself at the start of its work', async () => {
  let runs = 0;
  const coalescer: Coalescer = new Coalescer(async () => {
    runs += 1;
    if (runs === 1) void coalescer.request();
    await tick();
  });
  await coalescer.request();
  expect(runs).toBe(2);
});

test('a keyed mutex runs the work of a key in order, also after a failure', async () => {
  const log: string[] = [];
  const mutex = new KeyedMutex();
  const work = (name: string) => async () => {
    log.push(`${name} starts`);
    await tick();
    log.push(`${name} ends`);
    if (name === 'a') throw new Error('broken');
  };
  const results = await Promise.allSettled([
    mutex.run('run', work('a')),
    mutex.run('run', work('b')),
    mutex.run('other', work('c')),
  ]);
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled']);
  expect(log.filter((line) => !line.startsWith('c'))).toEqual(['a starts', 'a ends', 'b starts', 'b ends']);
  expect(log.indexOf('c starts')).toBeLessThan(log.indexOf('a ends'));
});

test('commands in a hint become commands that can be pasted', () => {
  const hint = 'Run `starpo` or `starpo show x`. `starpo-trainer selftest` and starpo runs stay.';
  expect(pasteable(hint, 'npm run --silent starpo --')).toBe(
    'Run `npm run --silent starpo --` or `npm run --silent starpo -- show x`. `starpo-trainer selftest` and starpo runs stay.',
  );
  expect(pasteable(hint, 'starpo')).toBe(hint);
});
