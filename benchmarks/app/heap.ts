/**
 * Measures memory growth of pages that stay open for days: the sample run's journal is replayed repeatedly into a seemingly training
 * run, whose Overview (with boards) and Charts (all unfolded) are open in headless Chromium. Reports the heap of each page after garbage
 * collection, before and after 36,000 events.
 * Usage: npm run benchmark:heap -- [--events 36000] [--out FILE]. Run `npm run build` first.
 */
import { spawn } from 'node:child_process';
import {
  appendFileSync,
  copyFileSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Page } from 'playwright-core';
import { commandArguments, machine, writeResult } from '../machine.ts';
import { launchBrowser, load, openStudio } from './served.ts';

const { values } = parseArgs({
  options: { events: { type: 'string', default: '36000' }, out: { type: 'string' } },
});
const eventCount = Number(values.events);
/** Iterations written at once; the page is notified of them together. */
const atOnce = 5;
/** Warm-up events: until then the page loads fonts, piece images and code. */
const warmUp = 1000;

type PageName = 'overview' | 'charts';

interface Memory {
  heap_megabytes: number;
  nodes: number;
  event_listeners: number;
}

interface JournalEvent {
  seq: number;
  time: number;
  type: string;
  iteration?: number;
  split?: string;
  file?: string;
  index?: string;
}

const home = mkdtempSync(join(tmpdir(), 'starpo-benchmark-'));
// A living process that core takes for the run's trainer.
const trainer = spawn('sleep', ['3600'], { stdio: 'ignore' });
process.env.STARPO_TRAINER = join(home, 'none');
const { studio, client } = await openStudio(home);
const browser = await launchBrowser();

try {
  const before = load();
  if (!(await client.call('sample.get', {}))) throw new Error('The sample run is missing: run `npm run make-sample`.');
  const replay = replayOf(globSync(join(home, 'sample/*/runs/*'))[0]!);
  replay.write(atOnce);
  const open = async (route: string) => {
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
    page.setDefaultTimeout(120_000);
    await page.goto((await studio.endpoint()).address);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.evaluate((hash) => (location.hash = hash), route);
    await page.locator('[data-chart="reward-mean"]').waitFor();
    return page;
  };
  const overview = await open('/run/replayed');
  await overview.getByRole('region', { name: 'Boards' }).getByText('Iteration').waitFor();
  const charts = await open('/run/replayed/charts');
  await charts.locator('section[aria-label$=", charts"] > h3 button[aria-expanded="false"]').evaluateAll((folded) => {
    for (const button of folded) (button as HTMLElement).click();
  });
  const pages = { overview, charts };

  /** Resolves when that many events are written and their iterations are drawn. */
  const replayUntil = async (events: number) => {
    while (replay.written() < events) {
      const iteration = replay.write(atOnce);
      for (const page of Object.values(pages))
        await page.waitForFunction(
          (newest) => document.querySelector('[data-chart="reward-mean"] > p')?.textContent?.includes(newest),
          `at iteration ${iteration};`,
          { polling: 50 },
        );
    }
  };
  await replayUntil(warmUp);
  const first = await memoryOf(pages);
  await replayUntil(warmUp + eventCount / 2);
  const halfway = await memoryOf(pages);
  await replayUntil(warmUp + eventCount);
  const last = await memoryOf(pages);

  const growth = (name: PageName) => Number((last[name].heap_megabytes - first[name].heap_megabytes).toFixed(2));
  const result = {
    command: `npm run benchmark:heap${commandArguments()}`,
    machine: machine(),
    load: { before, after: load() },
    browser: `Chromium ${browser.version()}, headless, 1440 x 900`,
    events: eventCount,
    iterations: replay.iteration(),
    before: first,
    halfway,
    after: last,
    heap_grew_by_megabytes: { overview: growth('overview'), charts: growth('charts') },
  };
  writeResult(result, values.out);
} finally {
  await browser.close();
  await studio.close();
  trainer.kill();
  rmSync(home, { recursive: true, force: true, maxRetries: 10 });
}

/** Returns each page's heap after garbage collection. */
async function memoryOf(pages: Record<PageName, Page>): Promise<Record<PageName, Memory>> {
  return { overview: await memoryOfPage(pages.overview), charts: await memoryOfPage(pages.charts) };
}

async function memoryOfPage(page: Page): Promise<Memory> {
  const devTools = await page.context().newCDPSession(page);
  for (let count = 0; count < 3; count++) await devTools.send('HeapProfiler.collectGarbage');
  const { usedSize } = await devTools.send('Runtime.getHeapUsage');
  const { nodes, jsEventListeners } = await devTools.send('Memory.getDOMCounters');
  await devTools.detach();
  return {
    heap_megabytes: Number((usedSize / 1e6).toFixed(2)),
    nodes,
    event_listeners: jsEventListeners,
  };
}

/** Creates a run that grows on request by repeating the sample's journal with its phases, boards and metrics. */
function replayOf(sample: string) {
  const folder = join(home, 'runs/replayed');
  const journal = join(folder, 'events.jsonl');
  mkdirSync(join(folder, 'rollouts'), { recursive: true });
  const config = JSON.parse(readFileSync(join(sample, 'run.json'), 'utf8'));
  writeFileSync(join(folder, 'run.json'), JSON.stringify({ ...config, iterations: 1_000_000 }));
  const events = readFileSync(join(sample, 'events.jsonl'), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line): JournalEvent => JSON.parse(line));
  const [started, ...rest] = events;
  // Each part ends with an iteration's metrics. Checkpoint events are left out: their files would have to exist.
  const pieces: JournalEvent[][] = [[]];
  for (const event of rest) {
    if (/^(checkpoint|stopped)/.test(event.type)) continue;
    pieces.at(-1)!.push(event);
    if (event.type === 'iteration') pieces.push([]);
  }
  const cycle = pieces.length - 1;
  let seq = 0;
  let newest = 0;
  const append = (of: readonly object[]) =>
    appendFileSync(
      journal,
      of.map((event) => `${JSON.stringify({ ...event, seq: seq++, time: Date.now() })}\n`).join(''),
    );
  append([{ ...started, pid: trainer.pid, host: hostname(), iterations: 1_000_000 }]);

  /** Returns the event shifted by that many iterations, with its files. */
  function later(event: JournalEvent, iterations: number): JournalEvent {
    const iteration = (event.iteration ?? 0) + iterations;
    const number = String(iteration).padStart(6, '0');
    if (event.type === 'rollout_removed')
      for (const path of globSync(join(folder, `rollouts/${number}-${event.split}.*`))) rmSync(path);
    if (event.type !== 'rollout') return { ...event, iteration };
    const moved = (path: string) => {
      const to = path.replace(/\d{6}/, number);
      // The sample has boards for few iterations: use those of the last iteration.
      const kept = globSync(join(sample, path.replace(/\d{6}/, '*'))).sort();
      copyFileSync(kept.find((each) => each.endsWith(path)) ?? kept.at(-1)!, join(folder, to));
      return to;
    };
    return { ...event, iteration, file: moved(event.file!), index: moved(event.index!) };
  }

  return {
    written: () => seq,
    iteration: () => newest,
    /** Appends iterations and returns the newest. */
    write(iterations: number): number {
      for (let count = 0; count < iterations; count++, newest++) {
        const before = newest - (newest % cycle);
        // Skip repeated evaluations of the untrained policy.
        const own = pieces[newest % cycle]!.filter(({ iteration }) => before === 0 || iteration !== 0);
        append(own.map((event) => later(event, before)));
      }
      return newest;
    },
  };
}
