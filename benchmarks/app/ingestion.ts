/**
 * Measures the page during ingestion: 1,001 runs, one of ten hours, appear in an open page's empty data folder. Reports main thread time
 * per frame, and the longest block, until all runs are listed.
 * Usage: npm run benchmark:ingestion -- [--runs 1000] [--out FILE]. Run `npm run build` first.
 */
import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { commandArguments, machine, writeResult } from '../machine.ts';
import { brief, tenHours, writeRun } from './data-folder.ts';
import { watchFrames } from './main-thread.ts';
import { clientOf, end, launchBrowser, load, printedAddress, serve } from './served.ts';

const { values } = parseArgs({
  options: { runs: { type: 'string', default: '1000' }, out: { type: 'string' } },
});
const folder = mkdtempSync(join(tmpdir(), 'starpo-benchmark-'));
const [home, elsewhere] = [join(folder, 'home'), join(folder, 'elsewhere')];
const count = Number(values.runs) + 1;
writeRun(elsewhere, 'ten-hours', tenHours);
for (let index = 1; index < count; index++) writeRun(elsewhere, `run-${String(index).padStart(4, '0')}`, brief);
mkdirSync(join(home, 'runs'), { recursive: true });

const core = serve(home);
const browser = await launchBrowser();
try {
  const before = load();
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  page.setDefaultTimeout(300_000);
  const address = await printedAddress(core);
  await clientOf(home, address);
  await page.goto(address);
  await page.getByText('Connected').waitFor();

  const measured: Record<string, object> = {};
  for (const name of ['start', 'history']) {
    await page.evaluate((to) => {
      location.hash = to;
    }, `#/${name}`);
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
    // Remove the runs for the next page.
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
  writeResult(result, values.out);
} finally {
  await browser.close();
  await end(core);
  rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
}
