/**
 * Tests jobs with the real trainer on a Slurm cluster of four simulated nodes with two GPUs each. `npm test` covers the main paths with a test
 * double of the trainer. Usage: npm run nightly:slurm -- [--only SCENARIO] [--out FILE]. Needs root and the packages slurmctld, slurmd and munge.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { commandArguments, machine, writeResult } from '../../benchmarks/machine.ts';
import { SimulatedCluster, whyNoCluster } from '../core/fixtures/simulated-cluster.ts';
import { failureScenarios } from './slurm-failures.ts';
import { queueScenarios } from './slurm-queue.ts';
import { Site, untilIdle } from './slurm-site.ts';

const nodes = 4;
const { values } = parseArgs({ options: { only: { type: 'string' }, out: { type: 'string' } } });
if (values.only && !Object.hasOwn({ ...queueScenarios, ...failureScenarios }, values.only))
  throw new Error(`${values.only} is not a scenario.`);
const problem = whyNoCluster();
if (problem !== null) throw new Error(`The Slurm cluster can't run: ${problem}.`);

const folder = mkdtempSync(join(tmpdir(), 'starpo-slurm-'));
const cluster = await SimulatedCluster.start(join(folder, 'slurm'), nodes);
const results: Record<string, object> = {};
try {
  for (const [name, scenario] of Object.entries({ ...queueScenarios, ...failureScenarios })) {
    if (values.only && values.only !== name) continue;
    await untilIdle(nodes);
    const site = new Site(cluster);
    const start = performance.now();
    try {
      const facts = await scenario(site);
      results[name] = { ...facts, seconds: Math.round((performance.now() - start) / 1000) };
      console.log(`${name}: ${JSON.stringify(results[name])}`);
    } finally {
      await site.close();
    }
  }
  writeResult(
    { command: `npm run nightly:slurm${commandArguments()}`, machine: machine(), nodes, gpus_per_node: 2, ...results },
    values.out,
  );
} finally {
  await cluster.stop();
  rmSync(folder, { recursive: true, force: true });
}
