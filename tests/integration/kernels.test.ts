import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findProgram, root } from '../../scripts/lib/process.mjs';
import { capOf, findReports, parseReport, readReports, shortName } from '../../scripts/lib/ptxas-report.mjs';

interface Limits {
  targets: string[];
  registers: Record<string, number>;
}

const limits: Limits = JSON.parse(readFileSync(join(root, 'native/cuda-kernels.json'), 'utf8'));

// The reports of ptxas exist only if nvcc built the kernels.
const withNvcc = test.runIf(findProgram('nvcc') !== undefined);

withNvcc('no kernel spills or needs more registers than native/cuda-kernels.json allows', () => {
  const reports = findReports();
  if (!reports)
    throw new Error('nvcc is installed but has not built the kernels: delete native/build and run setup again.');
  const uses = readReports(reports);
  expect(uses.filter(({ spilledBytes }) => spilledBytes > 0)).toEqual([]);
  // `npm run kernels -- --cap` adds missing limits.
  expect(uses.filter(({ kernel }) => capOf(limits.registers, kernel) === undefined)).toEqual([]);
  expect(uses.filter(({ kernel, registers }) => registers > capOf(limits.registers, kernel)!)).toEqual([]);
  for (const target of limits.targets) {
    const built = uses.filter((use) => use.target === target).map(({ kernel }) => kernel);
    const names = new Set([...built, ...built.map((kernel) => kernel.replace(/<.*/s, ''))]);
    expect(Object.keys(limits.registers).filter((name) => !names.has(name))).toEqual([]);
  }
  expect([...new Set(uses.map(({ target }) => target))].sort()).toEqual([...limits.targets].sort());
});

// The sampler's log-probability is bit-identical to the loss only if products are rounded before sums. Instructions without `.rn` may be fused.
withNvcc('nvcc does not fuse products with sums', () => {
  const commands = JSON.parse(readFileSync(join(root, 'native/build/compile_commands.json'), 'utf8'));
  const built = commands.find(({ file }: { file: string }) => file.endsWith('.cu'));
  const folder = mkdtempSync(join(tmpdir(), 'starpo-ptx-'));
  const ptx = join(folder, 'rope.ptx');
  const flags = (built.command as string)
    .split(' ')
    .filter((flag) => /^-(I|isystem|O|D|std|f)|^--expt/.test(flag) && !/^-forward/.test(flag));
  try {
    const source = join(root, 'native/src/engine/cuda/kernels/rope.cu');
    execFileSync('nvcc', [...flags, '-arch=compute_80', '-ptx', source, '-o', ptx]);
    const instructions = readFileSync(ptx, 'utf8').match(/\b(add|sub|mul)\.(rn\.)?f(32|64)\b/g) ?? [];
    expect(instructions).toContain('mul.rn.f32');
    expect(instructions.filter((instruction) => !instruction.includes('.rn.'))).toEqual([]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('parses the report of ptxas', () => {
  const text = `ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'void starpo::cuda::(anonymous namespace)::sum<starpo::cuda::Bf16, 64>(float*, int)' for 'sm_80'
ptxas info    : Function properties for void starpo::cuda::(anonymous namespace)::sum<starpo::cuda::Bf16, 64>(float*, int)
    16 bytes stack frame, 8 bytes spill stores, 12 bytes spill loads
ptxas info    : Used 30 registers, used 1 barriers, 256 bytes smem, 368 bytes cmem[0]
ptxas info    : Compile time = 13.778 ms
`;
  expect(parseReport(text)).toEqual([
    {
      kernel: 'sum<Bf16, 64>',
      target: 'sm_80',
      registers: 30,
      spilledBytes: 20,
      stackBytes: 16,
      sharedBytes: 256,
    },
  ]);
  expect(() => parseReport("ptxas info : Compiling entry function 'f' for 'sm_80'\n")).toThrow(
    'Unexpected ptxas output',
  );
});

test("a kernel's register limit is its own or that of its template", () => {
  expect(shortName('starpo::cuda::plain(float*, unsigned int)')).toBe('plain');
  expect(shortName('void starpo::cuda::(anonymous namespace)::k<(starpo::cuda::Mode)1>(int)')).toBe('k<(Mode)1>');
  const caps = { sum: 32, 'sum<Bf16, 64>': 48 };
  expect(capOf(caps, 'sum<Bf16, 64>')).toBe(48);
  expect(capOf(caps, 'sum<float, 64>')).toBe(32);
  expect(capOf(caps, 'other')).toBeUndefined();
});
