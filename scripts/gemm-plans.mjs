// Writes the trainer's table of matrix product plans from measurements of a GPU (starpo-bench kernels), then prints what
// each product gains over the estimate. Keeps the plans of GPUs with another number of multiprocessors.
// Usage: node scripts/gemm-plans.mjs RESULTS/kernels.json
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { formatPlans, measuredPlans, mergePlans, parsePlans } from './lib/gemm-plans.mjs';
import { fail, root, SetupError } from './lib/process.mjs';

const table = join(root, 'native/src/engine/cuda/kernels/gemm_plans.inc');

try {
  const [file] = process.argv.slice(2);
  if (!file)
    throw new SetupError('The result of a GPU is missing.', 'Usage: node scripts/gemm-plans.mjs RESULTS/kernels.json');
  const { measured } = JSON.parse(readFileSync(file, 'utf8'));
  if (!measured?.length)
    throw new SetupError(`${file} has no measurements.`, 'Run the stage `kernels` of benchmarks/gpu on a GPU.');
  const plans = measuredPlans(measured);
  writeFileSync(table, formatPlans(mergePlans(parsePlans(readFileSync(table, 'utf8')), plans), measured));
  for (const { kernel, rows, exact, tile, split, gain } of plans)
    console.log(`${kernel}, ${rows} rows${exact ? ', exact' : ''}: ${tile} split ${split}, ${gain} % faster`);
} catch (error) {
  fail(error);
}
