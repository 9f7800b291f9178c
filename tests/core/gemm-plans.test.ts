import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { formatPlans, measuredPlans, mergePlans, parsePlans } from '../../scripts/lib/gemm-plans.mjs';

const time = (kernel: string, plan: string, microseconds: number, chosen = false) => ({
  kernel,
  rows: 8,
  n: 896,
  k: 4864,
  plan,
  microseconds,
  chosen,
});

test('the table has the fastest plan of each product, split or not', () => {
  const kernels = [
    time('down', 'row split 1', 9),
    time('down', 'row split 8', 5, true),
    time('down', 'small split 4', 4),
    time('down', 'cublaslt', 1),
    time('gate_up', 'large split 1', 7),
    { kernel: 'residual_norm', rows: 8, microseconds: 2 },
  ];
  const measured = [{ device_name: 'NVIDIA H100', multiprocessors: 132, kernels }];
  const plans = measuredPlans(measured);
  expect(plans.map(({ kernel, exact, tile, split, gain }) => [kernel, exact, tile, split, gain])).toEqual([
    ['down', false, 'small', 4, 25],
    ['down', true, 'row', 1, 0],
    ['gate_up', true, 'large', 1, 0],
  ]);

  const text = formatPlans(plans, measured);
  expect(text).toBe(
    '// Written by `node scripts/gemm-plans.mjs RESULTS/kernels.json`. Last measured: NVIDIA H100.\n' +
      '{132, nt, 896, 4864, false, 8, {small, 4}},\n' +
      '{132, nt, 896, 4864, true, 8, {row, 1}},\n' +
      '{132, nt, 896, 4864, true, 8, {large, 1}},\n',
  );
  expect(formatPlans(parsePlans(text), measured)).toBe(text);
});

test('a measurement replaces the plans of its GPU alone', () => {
  const plan = (multiprocessors: number, rows: number) => ({
    ...{ multiprocessors, n: 896, k: 896, exact: true, rows, tile: 'row', split: 1 },
  });
  expect(mergePlans([plan(108, 8), plan(132, 8)], [plan(132, 16)])).toEqual([plan(108, 8), plan(132, 16)]);
});

test('the table of this checkout can be read', () => {
  const file = join(import.meta.dirname, '../../native/src/engine/cuda/kernels/gemm_plans.inc');
  const text = readFileSync(file, 'utf8');
  expect(parsePlans(text)).toHaveLength(text.split('\n').filter((line) => line.startsWith('{')).length);
});
