/**
 * Does the page's memory grow while a run goes on for days? The sample run's journal is replayed into a run that seems to train, again and again with rising numbers, its boards on
 * the wall and all charts open, in headless Chromium: the page's heap after a collection, before and after 36,000 events.
 * Usage: npm run benchmark:heap -- [--events 36000] [--out FILE]. `npm run build` must have made the page.
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
import type { CDPSession } from 'playwright-core';
import { commandArguments, machine, writeResult } from '../machine.ts';
import { launchBrowser, load, openStudio } from './served.ts';

const { values } = parseArgs({
  options: { events: { type: 'string', default: '36000' }, out: { type: 'string' } },
});
const wanted = Number(values.events);
/** Iterations that are written at once; a page is told of them together. */
const atOnce = 5;
/** Before this many the page still loads what it keeps: fonts, pictures of pieces, code that was not compiled yet. */
const warmUp = 1000;

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
// What core sees as the run's trainer: a process that lives.
const trainer = spawn('sleep', ['3600'], { stdio: 'ignore' });
process.env.STARPO_TRAINER = join(home, 'none');
const { studio, client } = await openStudio(home);
const browser = await launchBrowser();

try {
  const before = load();
  if (!(await client.call('sample.get', {}))) throw new Error('No sample run ships with the app.');
  const replay = replayOf(globSync(join(home, 'sample/*/runs/*'))[0]!);
  replay.write(atOnce);
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  page.setDefaultTimeout(120_000);
  await page.goto((await studio.endpoint()).address);
  await page.getByRole('heading', { level: 1 }).waitFor();
  await page.evaluate("location.hash = '/run/replayed'");
  await page.getByRole('region', { name: 'Boards' }).getByText('Iteration').waitFor();
  await page
    .locator('section[aria-label$=", charts"] > h3 button[aria-expanded="false"]')
    .evaluateAll((folded) => {
      for (const button of folded) (button as HTMLElement).click();
    });
  const devTools = await page.context().newCDPSession(page);

  /** Until so many events are written, and those that tell of iterations drawn. */
  const replayUntil = async (events: number) => {
    while (replay.written() < events) {
      const iteration = replay.write(atOnce);
      await page.waitForFunction(
        (newest) =>
          document.querySelector('[data-chart="rollout/reward_mean"] > p')?.textContent?.includes(newest),
        `at iteration ${iteration};`,
        { polling: 'raf' },
      );
    }
  };
  await replayUntil(warmUp);
  const first = await memoryOf(devTools);
  await replayUntil(warmUp + wanted / 2);
  const halfway = await memoryOf(devTools);
  await replayUntil(warmUp + wanted);
  const last = await memoryOf(devTools);

  const result = {
    command: `npm run benchmark:heap${commandArguments()}`,
    machine: machine(),
    load: { before, after: load() },
    browser: `Chromium ${browser.version()}, headless, 1440 x 900`,
    events: wanted,
    iterations: replay.iteration(),
    before: first,
    halfway,
    after: last,
    heap_grew_by_megabytes: Number((last.heap_megabytes - first.heap_megabytes).toFixed(2)),
  };
  writeResult(result, values.out);
} finally {
  await browser.close();
  await studio.close();
  trainer.kill();
  rmSync(home, { recursive: true, force: true, maxRetries: 10 });
}

/** Of the page alone, after a collection. */
async function memoryOf(devTools: CDPSession) {
  for (let count = 0; count < 3; count++) await devTools.send('HeapProfiler.collectGarbage');
  const { usedSize } = await devTools.send('Runtime.getHeapUsage');
  const { nodes, jsEventListeners } = await devTools.send('Memory.getDOMCounters');
  return {
    heap_megabytes: Number((usedSize / 1e6).toFixed(2)),
    nodes,
    event_listeners: jsEventListeners,
  };
}

/** A run of which more is written whenever that is asked for: the sample's journal over and over, with its phases, its boards and its metrics. */
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
  // Each ends with an iteration's metrics. A checkpoint would have to be there.
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

  /** The event as it would be so many iterations later, its files with it. */
  function later(event: JournalEvent, iterations: number): JournalEvent {
    const iteration = (event.iteration ?? 0) + iterations;
    const number = String(iteration).padStart(6, '0');
    if (event.type === 'rollout_removed')
      for (const path of globSync(join(folder, `rollouts/${number}-${event.split}.*`))) rmSync(path);
    if (event.type !== 'rollout') return { ...event, iteration };
    const moved = (path: string) => {
      const to = path.replace(/\d{6}/, number);
      // Of most iterations the sample has not kept the boards: those of its last one stand for them.
      const kept = globSync(join(sample, path.replace(/\d{6}/, '*'))).sort();
      copyFileSync(kept.find((each) => each.endsWith(path)) ?? kept.at(-1)!, join(folder, to));
      return to;
    };
    return { ...event, iteration, file: moved(event.file!), index: moved(event.index!) };
  }

  return {
    written: () => seq,
    iteration: () => newest,
    /** Gives the newest iteration. */
    write(iterations: number): number {
      for (let count = 0; count < iterations; count++, newest++) {
        const before = newest - (newest % cycle);
        // The untrained policy is evaluated once.
        const own = pieces[newest % cycle]!.filter(({ iteration }) => before === 0 || iteration !== 0);
        append(own.map((event) => later(event, before)));
      }
      return newest;
    },
  };
}
