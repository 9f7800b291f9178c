import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, test } from 'vitest';
import { root, trainer } from './trainer-process.ts';

const onLinux = test.runIf(process.platform === 'linux');
const onX64 = test.runIf(process.platform === 'linux' && process.arch === 'x64');

onLinux('the trainer requires at most glibc 2.34', () => {
  const symbols = execFileSync('objdump', ['-T', trainer], { encoding: 'utf8' });
  const versions = [...symbols.matchAll(/\(GLIBC_2\.(\d+)[\d.]*\)\s+(\S+)/g)];
  expect(versions.length).toBeGreaterThan(0);
  expect(versions.filter(([, minor]) => Number(minor) > 34).map(([text]) => text)).toEqual([]);
  // libgcc_s is part of the system too: systems with glibc 2.34 have that of GCC 11.
  const compiler = [...symbols.matchAll(/\(GCC_(\d+)\.[\d.]+\)\s+(\S+)/g)];
  expect(compiler.filter(([, major]) => Number(major) > 11).map(([text]) => text)).toEqual([]);
});

test('assertions are enabled, also in the kernels', () => {
  const commands = JSON.parse(readFileSync(join(root, 'native/build/compile_commands.json'), 'utf8'));
  const files = commands.filter(({ command }: { command: string }) => command.includes('-DNDEBUG'));
  expect(commands.length).toBeGreaterThan(50);
  expect(files.map(({ file }: { file: string }) => file)).toEqual([]);
});

test.each(['-ffast-math', '-Ofast', '-funsafe-math-optimizations', '-ffinite-math-only'])(
  'the build refuses %s',
  (option) => {
    const source = ['-fsyntax-only', '-x', 'c++', join(root, 'native/src/base/reproducible_math.h')];
    expect(spawnSync('g++', source).status).toBe(0);
    const { status, stderr } = spawnSync('g++', [option, ...source], { encoding: 'utf8' });
    expect(status).toBe(1);
    expect(stderr).toContain('Remove -ffast-math');
  },
);

// The linker would merge an inline function of two instruction sets into one copy, perhaps the wider one.
onX64('only the kernels of their instruction set use AVX and AMX', { timeout: 120_000 }, async () => {
  // Filtered and then demangled, which takes half the time.
  const script = `set -o pipefail; objdump -d --no-show-raw-insn "$0" | grep -E '>:$|%[xyz]mm' | c++filt`;
  const dump = spawn('bash', ['-c', script, trainer], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(dump, 'close');
  const users = new Set<string>();
  let symbol = '';
  for await (const line of createInterface(dump.stdout)) {
    if (line.endsWith('>:')) symbol = line.slice(line.indexOf('<') + 1, -2);
    else if (/\tv[a-z0-9]+ .*%[xyz]mm/.test(line)) users.add(symbol);
  }
  expect(await ended).toEqual([0, null]);
  const kernels = /\bstarpo::a[vm]x[a-z0-9_]*::/;
  expect([...users].some((name) => kernels.test(name))).toBe(true);
  expect([...users].filter((name) => !kernels.test(name))).toEqual([]);
});
