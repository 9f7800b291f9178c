import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, utimesSync, watch, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { findProgram, pinnedNode } from '../scripts/lib/process.mjs';
import { buildNative } from '../scripts/lib/trainer-build.mjs';

/**
 * Creates a build folder with two targets. The first builds immediately; the second waits for a file `go` and fails if another build
 * runs at the same time.
 */
const ninjaFile = `rule copy
  command = cp $in $out
rule slow
  command = mkdir busy && until [ -e go ]; do sleep 0.05; done; rmdir busy && cp $in $out
build quick: copy source
build starpo-trainer: slow quick
`;

let folder: string;
const children: ChildProcess[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'starpo-build-'));
  put('CMakeCache.txt', 'STARPO_CUDA_ARCHITECTURES:STRING=80;90a-real\n');
  put('build.ninja', ninjaFile);
  put('source', 'trainer');
});
afterEach(() => {
  put('go');
  for (const child of children.splice(0)) child.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
});

const put = (name: string, text = '') => writeFileSync(join(folder, name), text);
const there = (name: string) => existsSync(join(folder, name));
const report = () => JSON.parse(readFileSync(join(folder, 'building.json'), 'utf8'));

/** Resolves when a change in the folder makes the condition true. */
async function until(holds: () => boolean): Promise<void> {
  const watcher = watch(folder);
  try {
    while (!holds()) await once(watcher, 'change');
  } finally {
    watcher.close();
  }
}

/** Starts a setup in a separate process. */
function otherSetUp(): ChildProcess {
  const script = `import { buildNative } from ${JSON.stringify(join(import.meta.dirname, '../scripts/lib/trainer-build.mjs'))};
await buildNative(['starpo-trainer'], { folder: ${JSON.stringify(folder)}, everyGpu: true });`;
  const child = spawn(pinnedNode(), ['--input-type=module', '--eval', script], { stdio: 'ignore' });
  children.push(child);
  return child;
}

const build = (options: Parameters<typeof buildNative>[1] = {}) =>
  buildNative(['starpo-trainer'], { folder, everyGpu: true, ...options });

const unless = findProgram('ninja') ? '' : ' (skipped: ninja is not installed)';

test.skipIf(unless)(
  `of two set-ups at once, one waits for the other and shows how far it is${unless}`,
  async () => {
    const other = otherSetUp();
    const ended = once(other, 'exit');
    await until(() => there('busy'));
    const seen: { done: number; total: number }[] = [];
    await build({
      onProgress: (progress) => {
        seen.push({ done: progress.done, total: progress.total });
        put('go');
      },
    });
    expect(seen[0]).toEqual({ done: 1, total: 2 });
    expect(await ended).toEqual([0, null]);
    expect(there('starpo-trainer')).toBe(true);
    expect(there('building.json')).toBe(false);
  },
);

test.skipIf(unless)(
  `a build that is interrupted is neither failed nor finished: the next one builds${unless}`,
  async () => {
    const ending = new AbortController();
    const building = build({ signal: ending.signal });
    await until(() => there('busy') && report().done === 1);
    expect(report()).toMatchObject({ pid: process.pid, problem: null });
    ending.abort();
    await expect(building).rejects.toThrow();
    expect(there('building.json')).toBe(false);
    expect(there('starpo-trainer')).toBe(false);
    rmSync(join(folder, 'busy'), { recursive: true, force: true });
    put('go');
    await build();
    expect(there('starpo-trainer')).toBe(true);
  },
);

test.skipIf(unless)(
  `nobody waits for a set-up that is gone, whoever has its number now${unless}`,
  async () => {
    put('building.json', JSON.stringify({ pid: 1, done: 1, total: 2, problem: null }));
    utimesSync(join(folder, 'building.json'), 1, 1);
    put('go');
    await build();
    expect(there('starpo-trainer')).toBe(true);
  },
);

test.skipIf(unless)(`nobody waits for a set-up that was killed${unless}`, async () => {
  const other = otherSetUp();
  await until(() => there('busy'));
  other.kill('SIGKILL');
  await once(other, 'exit');
  expect(report()).toMatchObject({ pid: other.pid, problem: null });
  put('go');
  await until(() => !there('busy'));
  await build();
  expect(there('starpo-trainer')).toBe(true);
});

test.skipIf(unless)(`a build that fails says why${unless}`, async () => {
  put(
    'build.ninja',
    'rule fail\n  command = echo "a.cpp:3:1: error: expected }"; false\nbuild starpo-trainer: fail\n',
  );
  await expect(build()).rejects.toThrow('`ninja` failed.');
  expect(report().problem.message).toContain('a.cpp:3:1: error: expected }');
});
