import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { zstdDecompressSync } from 'node:zlib';
import { parse } from 'csv-parse/sync';
import type { Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { readLabeledRun } from '../../core/echo-trap/labeled-runs.ts';
import { root } from '../../scripts/lib/process.mjs';
import { violations, violationsInBothThemes } from './axe.ts';
import { type Studio, startStudio, type Visitor, visit } from './studio.ts';

/** Real journals from the labeled runs of the Echo Trap. */
const runs = ['lake-grpo-5e-4-seed-1', 'lake-ppo-5e-4-seed-1'];

let studio: Studio;
let visitor: Visitor | undefined;
beforeAll(async () => {
  studio = await startStudio();
  for (const run of runs) {
    const from = join(root, 'benchmarks/echo-trap/tuning', run);
    const to = join(studio.home, 'runs', run);
    mkdirSync(to, { recursive: true });
    writeFileSync(join(to, 'events.jsonl'), zstdDecompressSync(readFileSync(join(from, 'events.jsonl.zst'))));
    writeFileSync(join(to, 'run.json'), JSON.stringify(readLabeledRun(from)!.config));
  }
});
afterEach(async ({ task }) => {
  if (task.result?.state === 'fail') await visitor?.screenshot('charts-failure');
  await visitor?.close();
  visitor = undefined;
});
afterAll(() => studio?.close());

/** Returns the plot of a chart, after scrolling it into view. */
async function plotOf(page: Page, title: string): Promise<Locator> {
  const figure = page.getByRole('figure', { name: title, exact: true });
  await figure.scrollIntoViewIfNeeded();
  const plot = figure.locator('.u-over');
  await plot.waitFor();
  return plot;
}

async function pointAt(page: Page, plot: Locator, share: number): Promise<void> {
  const { x, y, width, height } = (await plot.boundingBox())!;
  await page.mouse.move(x + share * width, y + height / 2, { steps: 2 });
}

test('a chart shows values under the pointer, zooms, enlarges and saves', async () => {
  visitor = await visit(studio.address);
  const { page, expectNoComplaints } = visitor;
  // Wait until the run is indexed.
  await page.locator(`.sidebar a[href="#/run/${runs[0]}"]`).waitFor();
  await page.evaluate((hash) => {
    location.hash = hash;
  }, `#/run/${runs[0]}/charts`);
  const success = await plotOf(page, 'Success');
  await pointAt(page, success, 0.5);
  const tip = page.locator('body > div[aria-hidden]', { hasText: /^Iteration \d+/ });
  // The nearest evaluation is from another iteration, which the tooltip shows.
  expect(await tip.textContent()).toMatch(/evaluation.*at iteration (0|150).*rollout.*raw/);

  const { x, y, width, height } = (await success.boundingBox())!;
  await page.mouse.move(x + width * 0.2, y + height / 2);
  await page.mouse.down();
  await page.mouse.move(x + width * 0.4, y + height / 2, { steps: 4 });
  await page.mouse.up();
  const zoomedRange = page.getByRole('button', { name: /^Iterations \d+ to \d+$/ });
  await zoomedRange.waitFor();
  await success.dblclick();
  await zoomedRange.waitFor({ state: 'detached' });

  const figure = page.getByRole('figure', { name: 'Success', exact: true });
  await figure.hover();
  await figure.getByRole('button', { name: 'More for Success', exact: true }).click();
  await page.getByRole('menuitem', { name: 'Save as CSV' }).waitFor();
  expect(await violations(page)).toEqual([]);
  await page.keyboard.press('Tab');
  await page.getByRole('menu').waitFor({ state: 'detached' });
  await figure.hover();
  await figure.getByRole('button', { name: 'Enlarge Success', exact: true }).click();
  const dialog = page.getByRole('dialog', { name: 'Success' });
  await dialog.locator('.u-over').waitFor();
  expect(await violations(page)).toEqual([]);
  const crossHair = dialog.getByRole('slider', { name: /^Values at/ });
  await crossHair.press('Home');
  expect(await crossHair.getAttribute('aria-valuetext')).toMatch(/^Iteration 1;.*rollout \(T 1\) \d/);
  const saved = async (kind: string) => {
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      dialog.getByRole('button', { name: kind, exact: true }).click(),
    ]);
    expect(download.suggestedFilename()).toMatch(new RegExp(`^FrozenLake.*-Success\\.${kind.toLowerCase()}$`));
    return readFileSync(await download.path());
  };
  const png = await saved('PNG');
  expect(png.subarray(1, 4).toString()).toBe('PNG');
  expect([png.readUInt32BE(16), png.readUInt32BE(20)]).toEqual([1920, 1080]);
  expect((await saved('SVG')).toString()).toContain('>at start');
  const rows: string[][] = parse(await saved('CSV'));
  expect(rows[0]).toEqual([
    'iteration',
    'evaluation (T 0.5): evaluation/frozen-lake/success_rate',
    'rollout (T 1): rollout/success_rate',
    'rollout (T 1): rollout/success_rate (smoothed 0.6)',
  ]);
  expect(rows).toHaveLength(152);
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  expectNoComplaints();
});

test('compares two runs in both themes with the keyboard only', async () => {
  visitor = await visit(studio.address);
  const { page, expectNoComplaints } = visitor;
  await page.evaluate((hash) => {
    location.hash = hash;
  }, `#/run/${runs[0]}/charts`);
  await page.getByRole('link', { name: 'Compare with…' }).focus();
  await page.keyboard.press('Enter');
  const tick = page.getByRole('checkbox', { name: /^Compare /, checked: false });
  await tick.and(page.locator('[role="cell"] input')).first().focus();
  await page.keyboard.press('Space');
  await page.getByRole('heading', { name: 'Compare 2 runs' }).waitFor();
  await plotOf(page, 'Success (rollout)');
  await page.getByRole('rowheader', { name: /advantage\.estimator/ }).waitFor();
  expect(await violationsInBothThemes(page)).toEqual([]);
  expectNoComplaints();
});
