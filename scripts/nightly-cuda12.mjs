// Builds the trainer with Debian trixie's CUDA 12.4, whose binaries need driver 525 (CUDA 13 needs 580). Needs no GPU.
// Checks register spills and the CUDA version that the binary reports.
// Usage: npm run nightly:cuda12 -- [--release trixie] [--mirror URL]      (downloads 1 GB on first use)
import { parseArgs } from 'node:util';
import { buildCuda12Trainer, cuda12Folder } from './lib/cuda12.mjs';
import { fail, mustRun, SetupError } from './lib/process.mjs';
import { findReports, readReports } from './lib/ptxas-report.mjs';

/** In bytes. CUDA 12.4 spills two registers in one GEMM kernel; CUDA 13 does not. */
const toleratedSpill = 16;

try {
  const { values } = parseArgs({ options: { release: { type: 'string' }, mirror: { type: 'string' } } });
  const trainer = await buildCuda12Trainer(values);
  const reports = findReports(cuda12Folder);
  if (!reports)
    throw new SetupError('The ptxas report of a CUDA file is missing.', `Delete ${cuda12Folder} and try again.`);
  const spills = readReports(reports).filter(({ spilledBytes }) => spilledBytes > 0);
  const names = spills.map(({ kernel, target, spilledBytes }) => `${kernel} (${target}): ${spilledBytes} bytes`);
  if (spills.some(({ spilledBytes }) => spilledBytes > toleratedSpill))
    throw new SetupError('Kernels spill registers.', `Fix these kernels: ${names.join(', ')}.`);
  const { cuda } = JSON.parse(await mustRun(trainer, ['devices', '--json']));
  if (!cuda.runtime_version?.startsWith('12.'))
    throw new SetupError(
      `The trainer reports CUDA ${cuda.runtime_version} instead of 12.`,
      `Delete ${cuda12Folder} and try again.`,
    );
  console.log(`Built with CUDA ${cuda.runtime_version}. Spilled registers: ${names.join(', ') || 'none'}.`);
} catch (error) {
  fail(error);
}
