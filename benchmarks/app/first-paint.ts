/**
 * Measures the time from the start of `starpo serve` to the page's first paint. Chromium is already open and loads the address when it is
 * printed. Five starts each with a new data folder and with one after years of use.
 * Usage: npm run benchmark:first-paint -- [--starts 5] [--runs 1000] [--out FILE]. Run `npm run build` first.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { commandArguments, machine, writeResult } from '../machine.ts';
import { brief, tenHours, writeRun } from './data-folder.ts';
import { clientOf, end, launchBrowser, load, printedAddress, serve } from './served.ts';

const { values } = parseArgs({
  options: {
    starts: { type: 'string', default: '5' },
    runs: { type: 'string', default: '1000' },
    out: { type: 'string' },
  },
});
/** Milliseconds since the process started. */
interface Start {
  address_printed: number;
  /** The browser's first contentful paint. */
  first_contentful_paint: number;
  /** The page's heading is visible. */
  heading: number;
  /** Processor time of all of core's threads until it prints its address; comparable on a shared machine. */
  processor_time_of_core: number;
}

const folder = mkdtempSync(join(tmpdir(), 'starpo-benchmark-'));
// Keep compiled code between starts, as `npm start` does.
const environment = { ...process.env, NODE_COMPILE_CACHE: join(folder, 'compiled') };
const browser = await launchBrowser();
try {
  const before = load();
  const [empty, years] = [join(folder, 'new'), join(folder, 'years')];
  mkdirSync(empty);
  writeRun(years, 'ten-hours', tenHours);
  for (let index = 0; index < Number(values.runs); index++)
    writeRun(years, `run-${String(index).padStart(4, '0')}`, brief);
  await ingest(years);
  const result = {
    command: `npm run benchmark:first-paint${commandArguments()}`,
    machine: machine(),
    browser: `Chromium ${browser.version()}, headless, open already`,
    starts: Number(values.starts),
    milliseconds_from_the_start: {
      new_folder: await median(empty),
      [`${Number(values.runs) + 1}_runs`]: await median(years),
    },
    load: { before, after: load() },
  };
  writeResult(result, values.out);
} finally {
  await browser.close();
  rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
}

/** Returns a process's processor time in ms, with the kernel's resolution of 10 ms. */
function processorTime(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
  return 10 * (Number(fields[11]) + Number(fields[12]));
}

/** Ingests the data folder before the measurement: this happens once in its life. */
async function ingest(home: string): Promise<void> {
  const core = serve(home, environment);
  await clientOf(home, await printedAddress(core));
  await end(core);
}

async function median(home: string): Promise<Start & { first_contentful_paint_of_each: number[] }> {
  const starts: Start[] = [];
  for (let count = 0; count < Number(values.starts); count++) starts.push(await start(home));
  const middle = (of: (start: Start) => number) =>
    Math.round(starts.map(of).sort((a, b) => a - b)[Math.floor(starts.length / 2)]!);
  return {
    address_printed: middle((each) => each.address_printed),
    first_contentful_paint: middle((each) => each.first_contentful_paint),
    heading: middle((each) => each.heading),
    processor_time_of_core: middle((each) => each.processor_time_of_core),
    first_contentful_paint_of_each: starts.map((each) => Math.round(each.first_contentful_paint)),
  };
}

/** Opens a new tab in a fresh profile. */
async function start(home: string): Promise<Start> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  // Measured inside the page, by its own clock.
  await context.addInitScript(() => {
    const state = globalThis as unknown as { heading: Promise<number> };
    state.heading = new Promise((found) => {
      const look = () => (document.querySelector('h1') ? found(performance.now()) : requestAnimationFrame(look));
      requestAnimationFrame(look);
    });
  });
  const page = await context.newPage();
  const begun = Date.now();
  const core = serve(home, environment);
  try {
    const address = await printedAddress(core);
    const printed = Date.now();
    const worked = processorTime(core.pid!);
    await page.goto(address, { waitUntil: 'commit' });
    const seen = await page.evaluate(async () => {
      const paint = new Promise<number>((painted) => {
        new PerformanceObserver((list) => {
          for (const { name, startTime } of list.getEntries())
            if (name === 'first-contentful-paint') painted(startTime);
        }).observe({ type: 'paint', buffered: true });
      });
      const { heading } = globalThis as unknown as { heading: Promise<number> };
      return { origin: performance.timeOrigin, paint: await paint, heading: await heading };
    });
    return {
      address_printed: printed - begun,
      first_contentful_paint: seen.origin + seen.paint - begun,
      heading: seen.origin + seen.heading - begun,
      processor_time_of_core: worked,
    };
  } finally {
    await context.close();
    await end(core);
  }
}
