/**
 * How long does it take from the start of `starpo serve` until the page says something? Chromium is open and waits; it opens the address as soon as that is printed. Once
 * with a new data folder and once with years of use, five starts each.
 * Usage: npm run benchmark:first-paint -- [--starts 5] [--runs 1000] [--out FILE]. `npm run build` must have made the app.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { chromium } from 'playwright-core';
import { createClient } from '../../core/contract/client.ts';
import { keyFromToken } from '../../core/contract/handshake.ts';
import { openWebSocket } from '../../core/contract/web-socket.ts';
import { commandArguments, machine } from '../machine.ts';
import { brief, tenHours, writeRun } from './data-folder.ts';

const { values } = parseArgs({
  options: {
    starts: { type: 'string', default: '5' },
    runs: { type: 'string', default: '1000' },
    out: { type: 'string' },
  },
});
const root = join(import.meta.dirname, '../..');
const program = join(root, 'out/main/cli.cjs');
if (!existsSync(program)) throw new Error('The app is not built: run `npm run build` first.');
const load = () => Number(loadavg()[0]!.toFixed(1));

/** Milliseconds since the process was started. */
interface Start {
  address_printed: number;
  /** The first text or picture, as the browser tells. */
  first_contentful_paint: number;
  /** The page's heading is there. */
  heading: number;
  /** Of core, all its threads, until it has printed its address: what is comparable where others use the machine. */
  processor_time_of_core: number;
}

const folder = mkdtempSync(join(tmpdir(), 'starpo-benchmark-'));
// Compiled code is kept between starts, as `npm start` has it.
const environment = { ...process.env, NODE_COMPILE_CACHE: join(folder, 'compiled') };
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM_PATH ?? '/usr/bin/chromium' });
try {
  const before = load();
  const [empty, years] = [join(folder, 'new'), join(folder, 'years')];
  mkdirSync(empty);
  writeRun(years, 'ten-hours', tenHours);
  for (let index = 0; index < Number(values.runs); index++)
    writeRun(years, `run-${String(index).padStart(4, '0')}`, brief);
  await takeIn(years);
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
  const text = `${JSON.stringify(result, null, 2)}\n`;
  if (values.out) writeFileSync(resolve(values.out), text);
  else console.log(text);
} finally {
  await browser.close();
  rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
}

function serve(home: string): ChildProcess {
  return spawn(process.execPath, [program, 'serve', '--port', '0', '--home', home], {
    env: environment,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

async function printedAddress(core: ChildProcess): Promise<string> {
  for await (const text of createInterface(core.stdout!)) {
    const found = /(http:\/\/127\.0\.0\.1:\d+\/\S*)/.exec(text);
    if (found) return found[1]!;
  }
  throw new Error('starpo serve ended.');
}

/** Milliseconds that a process has had, by the kernel's count in hundredths of a second. */
function processorTime(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
  return 10 * (Number(fields[11]) + Number(fields[12]));
}

async function end(core: ChildProcess): Promise<void> {
  core.kill('SIGTERM');
  await once(core, 'exit');
}

/** What happens once in the life of a data folder is none of a start. */
async function takeIn(home: string): Promise<void> {
  const core = serve(home);
  const { origin } = new URL(await printedAddress(core));
  const key = await keyFromToken(readFileSync(join(home, 'token'), 'utf8').trim(), origin);
  await createClient(await openWebSocket(origin, key)).call('history.ready', {});
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

/** A tab of its own each time, in a profile that knows nothing of the page. */
async function start(home: string): Promise<Start> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  // Watched from within, by the page's own clock.
  await context.addInitScript(() => {
    const state = globalThis as unknown as { heading: Promise<number> };
    state.heading = new Promise((found) => {
      const look = () =>
        document.querySelector('h1') ? found(performance.now()) : requestAnimationFrame(look);
      requestAnimationFrame(look);
    });
  });
  const page = await context.newPage();
  const begun = Date.now();
  const core = serve(home);
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
