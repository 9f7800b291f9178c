/**
 * Does the page answer while years of runs are taken in? The page is open on an empty data folder when 1,001 runs appear in it, one of them of ten hours: how long the page's main
 * thread works in each frame, and how long it is blocked at most, until all of them are taken in and listed.
 * Usage: npm run benchmark:ingestion -- [--runs 1000] [--out FILE]. `npm run build` must have made the app.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
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
import { watchFrames } from './main-thread.ts';

const { values } = parseArgs({
  options: { runs: { type: 'string', default: '1000' }, out: { type: 'string' } },
});
const root = join(import.meta.dirname, '../..');
const program = join(root, 'out/main/cli.cjs');
if (!existsSync(program)) throw new Error('The app is not built: run `npm run build` first.');
const load = () => Number(loadavg()[0]!.toFixed(1));

const folder = mkdtempSync(join(tmpdir(), 'starpo-benchmark-'));
const [home, elsewhere] = [join(folder, 'home'), join(folder, 'elsewhere')];
const count = Number(values.runs) + 1;
writeRun(elsewhere, 'ten-hours', tenHours);
for (let index = 1; index < count; index++)
  writeRun(elsewhere, `run-${String(index).padStart(4, '0')}`, brief);
mkdirSync(join(home, 'runs'), { recursive: true });

const core = spawn(process.execPath, [program, 'serve', '--port', '0', '--home', home], {
  stdio: ['ignore', 'pipe', 'inherit'],
});
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM_PATH ?? '/usr/bin/chromium' });
try {
  const before = load();
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  page.setDefaultTimeout(300_000);
  const address = await printedAddress();
  const { origin } = new URL(address);
  const key = await keyFromToken(readFileSync(join(home, 'token'), 'utf8').trim(), origin);
  const client = createClient(await openWebSocket(origin, key));
  await client.call('history.ready', {});
  await page.goto(address);
  await page.getByText('Connected').waitFor();

  const measured: Record<string, object> = {};
  for (const [name, hash] of [
    ['start', '#/start'],
    ['history', '#/history'],
  ] as const) {
    // biome-ignore format: pairs
    await page.evaluate((to) => {
      location.hash = to;
    }, hash);
    await page.locator('h1').waitFor();
    const from = join(elsewhere, 'runs');
    let milliseconds = 0;
    const frames = await watchFrames(browser, page, async () => {
      const begin = performance.now();
      for (const run of readdirSync(from)) renameSync(join(from, run), join(home, 'runs', run));
      await shows(String(count));
      milliseconds = Math.round(performance.now() - begin);
    });
    measured[name] = { listed_after_milliseconds: milliseconds, ...frames };
    // Away again, for the next page.
    for (const run of readdirSync(join(home, 'runs'))) renameSync(join(home, 'runs', run), join(from, run));
    await shows(null);
  }

  async function shows(runs: string | null): Promise<void> {
    await page.waitForFunction(
      (text) => (document.querySelector('.nav-heading .faint')?.textContent ?? null) === text,
      runs,
      { polling: 100 },
    );
  }

  const result = {
    command: `npm run benchmark:ingestion${commandArguments()}`,
    machine: machine(),
    load: { before, after: load() },
    browser: `Chromium ${browser.version()}, headless, 1440 x 900`,
    runs: count,
    pages: measured,
  };
  const text = `${JSON.stringify(result, null, 2)}\n`;
  if (values.out) writeFileSync(resolve(values.out), text);
  else console.log(text);
} finally {
  await browser.close();
  core.kill('SIGTERM');
  await once(core, 'exit');
  rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
}

async function printedAddress(): Promise<string> {
  for await (const text of createInterface(core.stdout!)) {
    const found = /(http:\/\/127\.0\.0\.1:\d+\/\S*)/.exec(text);
    if (found) return found[1]!;
  }
  throw new Error('starpo serve ended.');
}
