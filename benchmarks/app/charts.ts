/**
 * Measures charts in headless Chromium with 30 overlaid runs of 60 metrics, and the Charts of one run of a million points: time until they appear,
 * and main thread time per frame during cross-hair moves, zoom, smoothing and scrolling.
 * Usage: npm run benchmark:charts -- [--runs 30] [--points 1000000] [--out FILE]. Run `npm run build` first.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Page } from 'playwright-core';
import { commandArguments, machine, writeResult } from '../machine.ts';
import { writeLongRun, writeRun } from './data-folder.ts';
import { watchFrames } from './main-thread.ts';
import { clientOf, end, launchBrowser, load, printedAddress, serve } from './served.ts';

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '30' },
    points: { type: 'string', default: '1000000' },
    out: { type: 'string' },
  },
});
const plan = { iterations: 200, phases: 0, pace: 60_000, metrics: 60 };

const home = mkdtempSync(join(tmpdir(), 'starpo-benchmark-'));
const ids = Array.from({ length: Number(values.runs) }, (_, index) => `run-${String(index).padStart(2, '0')}`);
for (const [index, id] of ids.entries()) writeRun(home, id, { ...plan, shift: index });
writeLongRun(home, 'long', Number(values.points));

const core = serve(home);
const browser = await launchBrowser();
try {
  const before = load();
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  const address = await printedAddress(core);
  await clientOf(home, address);
  await page.goto(address);
  await page.locator('h1').waitFor();

  const compared = await open(page, `#/compare/${ids.join(',')}`, ids.length);
  const compare = await measureAll(page);
  const alone = await open(page, '#/run/long/charts', 1);
  const long = await measureAll(page);

  const result = {
    command: `npm run benchmark:charts${commandArguments()}`,
    machine: machine(),
    load: { before, after: load() },
    browser: `Chromium ${browser.version()}, headless, 1440 x 900`,
    compare: { runs: ids.length, ...plan, shown_after_milliseconds: compared, ...compare },
    long_run: { points: Number(values.points), shown_after_milliseconds: alone, ...long },
  };
  writeResult(result, values.out);
} finally {
  await browser.close();
  await end(core);
  rmSync(home, { recursive: true, force: true });
}

/** Opens a page, waits until a chart has the values of that many runs, and returns the milliseconds. */
async function open(page: Page, hash: string, runs: number): Promise<number> {
  const begin = performance.now();
  await page.evaluate((to) => {
    location.hash = to;
  }, hash);
  // The text lists at most twelve lines.
  const count = Math.min(runs, 12);
  const words = runs > 1 ? 'rollout/reward_mean' : 'reward-mean';
  await page.waitForFunction(
    ([id, count]) => {
      const text = document.querySelector(`[data-chart="${id}"] > p`)?.textContent ?? '';
      return text.split('at iteration').length > Number(count);
    },
    [words, count] as const,
    { timeout: 300_000 },
  );
  // Charts are created when they are nearly in view.
  await page.locator('[data-chart]').first().scrollIntoViewIfNeeded();
  await page.locator('[data-chart] canvas').first().waitFor({ state: 'attached' });
  return Math.round(performance.now() - begin);
}

async function measureAll(page: Page) {
  const plot = page.locator('[data-chart] .u-over').first();
  await waitUntilStill(page);
  const { x, y, width, height } = (await plot.boundingBox())!;
  const middle = y + height / 2;
  const moved = await watchFrames(browser, page, async () => {
    for (let step = 0; step <= 120; step++) await page.mouse.move(x + (width * step) / 120, middle);
  });
  const zoomed = await watchFrames(browser, page, async () => {
    for (let round = 0; round < 6; round++) {
      await page.mouse.move(x + width * 0.2, middle);
      await page.mouse.down();
      await page.mouse.move(x + width * 0.7, middle, { steps: 8 });
      await page.mouse.up();
      await page.mouse.dblclick(x + width * 0.5, middle);
    }
  });
  const slider = page.getByLabel('Smoothing');
  const smoothed = await watchFrames(browser, page, async () => {
    for (let step = 0; step < 20; step++) await slider.press(step < 10 ? 'ArrowRight' : 'ArrowLeft');
  });
  await page.mouse.move(x + width / 2, middle);
  const scrolled = await watchFrames(browser, page, async () => {
    for (let step = 0; step < 60; step++) await page.mouse.wheel(0, step < 30 ? 90 : -90);
  });
  const charts = await page.locator('[data-chart] canvas').count();
  return { charts_drawn: charts, cross_hair: moved, zoom: zoomed, smoothing: smoothed, scroll: scrolled };
}

/** Scrolls the first plot to the middle and waits until the page is stable for thirty frames: late runs recreate it. */
async function waitUntilStill(page: Page): Promise<void> {
  await page.waitForFunction(
    () => {
      const seen = globalThis as unknown as { shown?: string; plot?: Element | null; frames: number };
      const plot = document.querySelector('[data-chart] .u-over');
      plot?.scrollIntoView({ block: 'center' });
      const shown = `${plot?.getBoundingClientRect().top} ${document.querySelectorAll('canvas').length}`;
      seen.frames = plot && plot === seen.plot && shown === seen.shown ? seen.frames + 1 : 0;
      Object.assign(seen, { plot, shown });
      return seen.frames > 30;
    },
    undefined,
    { polling: 'raf', timeout: 120_000 },
  );
}
