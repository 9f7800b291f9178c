import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { sentence } from '../../core/contract/sentence.ts';
import { gpuFindings } from '../../core/system/findings.ts';
import { parseDevices } from '../../core/trainer/trainer.ts';

const file = resolve(import.meta.dirname, '../../docs/formats/examples/devices.json');
const example = JSON.parse(readFileSync(file, 'utf8'));

const withProblem = (code: string) => ({
  runtimeVersion: '13.0',
  problem: { code, message: 'the message', hint: 'the hint' },
});

test('the devices example has a usable and an unusable GPU', () => {
  const { devices, cuda, build } = parseDevices(example);
  expect({ cuda, build }).toEqual({
    cuda: { runtimeVersion: '13.0', problem: null },
    build: example.build,
  });
  expect(gpuFindings(devices, cuda)).toEqual([
    { name: 'GPU', fine: true, detail: 'cuda:0 NVIDIA H100 80GB HBM3', advice: null },
    {
      name: 'GPU',
      fine: false,
      detail: `cuda:1 Tesla T4 can't be used: ${example.devices[2].reason}`,
      advice: sentence(example.devices[2].hint),
    },
  ]);
});

test.each([
  ['driver_missing', true],
  ['built_without_cuda', true],
  ['no_gpu', true],
  ['driver_too_old', false],
  ['gpu_failed', false],
])('doctor with %s: ok is %s, with advice', (code, fine) => {
  const finding = { detail: 'the message', advice: 'the hint' };
  expect(gpuFindings([], withProblem(code))).toEqual([
    { name: 'GPU', fine, ...(fine && { absent: true }), ...finding },
  ]);
});

test("a trainer that doesn't answer is reported in its own line", () => {
  expect(gpuFindings([], null)).toEqual([]);
});
