/**
 * What does the wall cost? 256 boards play on the page of a run that trains meanwhile, in headless Chromium; the browser's own trace says how long its main thread works
 * in each frame. Usage: npm run benchmark:wall -- [--preset starter-sokoban] [--seconds 30] [--out FILE]. `npm run build` must have made the page and the trainer.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { chromium } from 'playwright-core';
import { createClient } from '../../core/contract/client.ts';
import { Studio } from '../../core/host/studio.ts';
import { commandArguments, machine } from '../machine.ts';
import { rounded, watchFrames } from './main-thread.ts';

const { values } = parseArgs({
  options: {
    preset: { type: 'string', default: 'starter-sokoban' },
    seconds: { type: 'string', default: '30' },
    out: { type: 'string' },
  },
});
const root = join(import.meta.dirname, '../..');
const home = mkdtempSync(join(tmpdir(), 'starpo-benchmark-'));
const studio = new Studio({
  home,
  resources: join(root, 'resources'),
  log: console.error,
  endpoint: { port: 0, webFolder: join(root, 'out/renderer') },
});
await studio.stay();
const client = createClient(await studio.open());
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM_PATH ?? '/usr/bin/chromium' });

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
  const loadBefore = loadavg()[0]!;
  // No event ends the measurement: it lasts as long as it was asked to.
  const frames = await watchFrames(browser, page, () => page.waitForTimeout(1000 * Number(values.seconds)));
  const last = await iteration(runId);
  await client.call('runs.command', { runId, command: 'stop' });

  const result = {
    command: `npm run benchmark:wall${commandArguments()}`,
    machine: machine(),
    load: { before: rounded(loadBefore), after: rounded(loadavg()[0]!) },
    boards: 256,
    iterations_meanwhile: last - first,
    ...frames,
  };
  const text = `${JSON.stringify(result, null, 2)}\n`;
  if (values.out) writeFileSync(resolve(values.out), text);
  else console.log(text);
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
