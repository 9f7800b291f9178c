import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, utimesSync, watch, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { findProgram, pinnedNode } from '../scripts/lib/process.mjs';
import { buildNative } from '../scripts/lib/trainer-build.mjs';

/**
 * Ninja file with two targets. The first is built immediately; the second waits for a file `go` and fails if another
 * build runs at the same time.
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
const exists = (name: string) => existsSync(join(folder, name));
const report = () => JSON.parse(readFileSync(join(folder, 'building.json'), 'utf8'));

/** Resolves when a change in the folder makes the condition true. */
async function until(condition: () => boolean): Promise<void> {
  const watcher = watch(folder);
  try {
    while (!condition()) await once(watcher, 'change');
  } finally {
    watcher.close();
  }
}

/** Starts a setup in a separate process. */
function otherSetup(): ChildProcess {
  const script = `import { buildNative } from ${JSON.stringify(join(import.meta.dirname, '../scripts/lib/trainer-build.mjs'))};
await buildNative(['starpo-trainer'], { folder: ${JSON.stringify(folder)}, everyGpu: true });`;
  const child = spawn(pinnedNode(), ['--input-type=module', '--eval', script], { stdio: 'ignore' });
  children.push(child);
  return child;
}

const build = (options: Parameters<typeof buildNative>[1] = {}) =>
  buildNative(['starpo-trainer'], { folder, everyGpu: true, ...options });

const skipped = findProgram('ninja') ? '' : ' (skipped: ninja is not installed)';

test.skipIf(skipped)(`of two concurrent setups, one waits for the other and shows its progress${skipped}`, async () => {
  const other = otherSetup();
  const ended = once(other, 'exit');
  await until(() => exists('busy'));
  const seen: { done: number; total: number }[] = [];
  await build({
    onProgress: (progress) => {
      seen.push({ done: progress.done, total: progress.total });
      put('go');
    },
  });
  expect(seen[0]).toEqual({ done: 1, total: 2 });
  expect(await ended).toEqual([0, null]);
  expect(exists('starpo-trainer')).toBe(true);
  expect(exists('building.json')).toBe(false);
});

test.skipIf(skipped)(`an interrupted build leaves no state; the next build succeeds${skipped}`, async () => {
  const ending = new AbortController();
  const building = build({ signal: ending.signal });
  await until(() => exists('busy') && report().done === 1);
  expect(report()).toMatchObject({ pid: process.pid, problem: null });
  ending.abort();
  await expect(building).rejects.toThrow();
  expect(exists('building.json')).toBe(false);
  expect(exists('starpo-trainer')).toBe(false);
  rmSync(join(folder, 'busy'), { recursive: true, force: true });
  put('go');
  await build();
  expect(exists('starpo-trainer')).toBe(true);
});

test.skipIf(skipped)(`a setup does not wait for an exited one whose pid was reused${skipped}`, async () => {
  put('building.json', JSON.stringify({ pid: 1, done: 1, total: 2, problem: null }));
  utimesSync(join(folder, 'building.json'), 1, 1);
  put('go');
  await build();
  expect(exists('starpo-trainer')).toBe(true);
});

test.skipIf(skipped)(`a setup does not wait for a killed one${skipped}`, async () => {
  const other = otherSetup();
  await until(() => exists('busy'));
  other.kill('SIGKILL');
  await once(other, 'exit');
  expect(report()).toMatchObject({ pid: other.pid, problem: null });
  put('go');
  await until(() => !exists('busy'));
  await build();
  expect(exists('starpo-trainer')).toBe(true);
});

test.skipIf(skipped)(`a failed build reports the reason${skipped}`, async () => {
  put('build.ninja', 'rule fail\n  command = echo "a.cpp:3:1: error: expected }"; false\nbuild starpo-trainer: fail\n');
  await expect(build()).rejects.toThrow('`ninja` failed.');
  expect(report().problem.message).toContain('a.cpp:3:1: error: expected }');
});
