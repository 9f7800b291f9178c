import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { RunSummary } from '../../../core/contract/contract.ts';
import { type Outcome, seriesOf } from '../../core/fixtures/trap-series.ts';
import { Served } from './studio.ts';

const set = { iterations: 200, 'checkpoint.every': 25 };

/** Replays an invented series until the iteration where the trainer waits. */
async function play(served: Served, name: string, outcome: Outcome, until: number): Promise<string> {
  const file = join(served.folder, `${outcome}.json`);
  writeFileSync(file, JSON.stringify(seriesOf(outcome)));
  const runId = await served.make(name, 'starter-frozen-lake-grpo', set);
  const trainer = { SERIES: file, HOLD: until };
  await served.train(runId, trainer, ({ iteration }: RunSummary) => iteration === until);
  return runId;
}

/** Creates a data folder with healthy, warned, collapsed and rolled-back runs. */
export async function trappedStudio(): Promise<Served> {
  const served = await Served.start();
  await play(served, 'healthy', 'healthy', 90);
  await play(served, 'locked', 'locked', 120);
  await play(served, 'warned', 'chaos', 130);
  const collapsing = await play(served, 'collapsing', 'template', 146);
  await play(served, 'chaos', 'chaos', 160);
  const { runId } = await served.call('runs.create', {
    run: collapsing,
    checkpoint: 75,
    keepOptimizer: false,
    set: { 'optimizer.learning_rate': 1.7e-4 },
    start: false,
  });
  served.runs.fork = runId;
  const rescued = join(served.folder, 'rescued.json');
  writeFileSync(rescued, JSON.stringify(seriesOf('healthy', { seed: 5 })));
  await served.train(runId, { FORK_SERIES: rescued, FORK_HOLD: 150 }, ({ iteration }) => iteration === 150);
  return served;
}
