/**
 * Measures the wall: 256 boards play in headless Chromium on the page of a training run; the browser's trace gives main thread time per
 * frame. Usage: npm run benchmark:wall -- [--preset starter-sokoban] [--seconds 30] [--out FILE]. Run `npm run build` first; needs the trainer.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { commandArguments, machine, writeResult } from '../machine.ts';
import { watchFrames } from './main-thread.ts';
import { launchBrowser, load, openStudio } from './served.ts';

const { values } = parseArgs({
  options: {
    preset: { type: 'string', default: 'starter-sokoban' },
    seconds: { type: 'string', default: '30' },
    out: { type: 'string' },
  },
});
const home = mkdtempSync(join(tmpdir(), 'starpo-benchmark-'));
const { studio, client } = await openStudio(home);
const browser = await launchBrowser();

try {
  const set = { 'rollout.groups': 16, 'rollout.group_size': 16, iterations: 1000 };
  const { runId } = await client.call('runs.create', { preset: values.preset, set, start: true });
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  page.setDefaultTimeout(600_000);
  await page.goto((await studio.endpoint()).address);
  await page.getByRole('heading', { level: 1 }).waitFor();
  await page.evaluate(`location.hash = '/run/${runId}'`);
  await page.getByRole('region', { name: 'Boards' }).getByText('Iteration').waitFor();
  const first = await iteration(runId);
  const before = load();
  // The measurement has a fixed duration.
  const frames = await watchFrames(browser, page, () => page.waitForTimeout(1000 * Number(values.seconds)));
  const last = await iteration(runId);
  await client.call('runs.command', { runId, command: 'stop' });

  const result = {
    command: `npm run benchmark:wall${commandArguments()}`,
    machine: machine(),
    load: { before, after: load() },
    boards: 256,
    iterations_meanwhile: last - first,
    ...frames,
  };
  writeResult(result, values.out);
  await ended(runId);
} finally {
  await browser.close();
  await studio.close();
  rmSync(home, { recursive: true, force: true, maxRetries: 10 });
}

async function iteration(runId: string): Promise<number> {
  return (await client.call('runs.get', { runId })).summary.iteration;
}

async function ended(runId: string): Promise<void> {
  const isOver = (status: string) => status !== 'running';
  await new Promise<void>((resolve, reject) => {
    client.on('run', (run) => run.id === runId && isOver(run.status) && resolve());
    client.call('runs.get', { runId }).then(({ summary }) => isOver(summary.status) && resolve(), reject);
  });
}
