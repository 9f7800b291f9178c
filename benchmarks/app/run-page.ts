/**
 * Measures the Run page in headless Chromium while a run trains and after it has completed: cumulative layout shift, long tasks, and the main
 * thread's share of a core in processor time. Wall time is measured too; it includes waiting for a core, since training uses all of them.
 * Targets: a shift below 0.1; a share below 0.1 while training and below 0.01 on a completed run.
 * Usage: npm run benchmark:run-page -- [--minutes 10] [--out FILE]. Run `npm run build` first; needs the trainer.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { CDPSession, Page } from 'playwright-core';
import { commandArguments, machine, writeResult } from '../machine.ts';
import { launchBrowser, load, openStudio } from './served.ts';

const { values } = parseArgs({ options: { minutes: { type: 'string', default: '10' }, out: { type: 'string' } } });
const home = mkdtempSync(join(tmpdir(), 'starpo-benchmark-'));
const { studio, client } = await openStudio(home);
const browser = await launchBrowser();

interface Observed {
  shift: number;
  longTasks: number[];
  moved: string[];
}

try {
  const preset = 'starter-frozen-lake';
  const short = await client.call('runs.create', { preset, set: { iterations: 10 }, start: true });
  await ended(short.runId);
  const training = await client.call('runs.create', { preset, set: { iterations: 100_000 }, start: true });
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  await page.addInitScript(observe);
  await page.goto((await studio.endpoint()).address);
  const before = load();

  await open(page, training.runId);
  await page.getByText(/^Iteration [1-9]\d*:/).waitFor({ timeout: 120_000 });
  const first = await iteration(training.runId);
  const whileTraining = await measure(page, 60 * Number(values.minutes));
  const iterations = (await iteration(training.runId)) - first;
  console.error(whileTraining);
  await client.call('runs.command', { runId: training.runId, command: 'stop' });
  await ended(training.runId);

  await open(page, short.runId);
  // The boards stop after their replay.
  await page.getByRole('button', { name: 'Play boards again' }).waitFor({ timeout: 60_000 });
  const completed = await measure(page, 60);
  const result = {
    command: `npm run benchmark:run-page${commandArguments()}`,
    machine: machine(),
    load: { before, after: load() },
    training: { minutes: Number(values.minutes), iterations, ...whileTraining },
    completed: { minutes: 1, ...completed },
  };
  writeResult(result, values.out);
} finally {
  await browser.close();
  await studio.close();
  rmSync(home, { recursive: true, force: true, maxRetries: 10 });
}

/** Records layout shifts without recent input, and tasks of more than 50 ms. */
function observe(): void {
  const observed: Observed = { shift: 0, longTasks: [], moved: [] };
  Object.assign(window, { observed });
  interface Shift extends PerformanceEntry {
    value: number;
    hadRecentInput: boolean;
    sources: { node?: Node | null }[];
  }
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries() as Shift[]) {
      if (entry.hadRecentInput) continue;
      observed.shift += entry.value;
      const node = entry.sources[0]?.node;
      const element = node instanceof Element ? node : node?.parentElement;
      if (element && observed.moved.length < 20) observed.moved.push(`${element.tagName} ${element.className}`);
    }
  }).observe({ type: 'layout-shift', buffered: true });
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) observed.longTasks.push(duration);
  }).observe({ type: 'longtask', buffered: true });
}

async function open(page: Page, runId: string): Promise<void> {
  await page.evaluate(`location.hash = '/run/${runId}'`);
  await page.getByRole('region', { name: 'Boards' }).waitFor();
}

/** Measures an open page for some seconds. */
async function measure(page: Page, seconds: number) {
  const session = await page.context().newCDPSession(page);
  const wall = await page.context().newCDPSession(page);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  await wall.send('Performance.enable');
  await page.evaluate(() => {
    Object.assign((window as unknown as { observed: Observed }).observed, { shift: 0, longTasks: [], moved: [] });
  });
  const begin = [await taskSeconds(session), await taskSeconds(wall)] as const;
  const start = performance.now();
  // The measurement has a fixed duration.
  await page.waitForTimeout(1000 * seconds);
  const end = [await taskSeconds(session), await taskSeconds(wall)] as const;
  const duration = (performance.now() - start) / 1000;
  const shareOf = (domain: 0 | 1) => Number(((end[domain] - begin[domain]) / duration).toFixed(4));
  const { shift, longTasks, moved } = await page.evaluate(() => (window as unknown as { observed: Observed }).observed);
  await Promise.all([session.detach(), wall.detach()]);
  return {
    cumulative_layout_shift: Number(shift.toFixed(4)),
    moved_elements: [...new Set(moved)],
    long_tasks: longTasks.length,
    longest_task_milliseconds: Math.round(Math.max(0, ...longTasks)),
    main_thread_share_of_a_core: shareOf(0),
    main_thread_share_of_wall_time: shareOf(1),
  };
}

async function taskSeconds(session: CDPSession): Promise<number> {
  const { metrics } = await session.send('Performance.getMetrics');
  return metrics.find(({ name }) => name === 'TaskDuration')!.value;
}

async function iteration(runId: string): Promise<number> {
  return (await client.call('runs.get', { runId })).summary.iteration;
}

async function ended(runId: string): Promise<void> {
  const isOver = (status: string) => status !== 'running' && status !== 'created';
  await new Promise<void>((resolve, reject) => {
    client.on('run', (run) => run.id === runId && isOver(run.status) && resolve());
    client.call('runs.get', { runId }).then(({ summary }) => isOver(summary.status) && resolve(), reject);
  });
}
