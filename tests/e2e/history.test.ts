import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { chromiumPath } from '../../scripts/lib/debian-packages.mjs';
import * as journal from '../core/fixtures/journal.ts';
import { Served } from '../renderer/screens/studio.ts';
import { violationsInBothThemes } from './axe.ts';
import { collectComplaints } from './studio.ts';

/** Creates many completed runs, and a run that waits during training. */
const many = 300;

let served: Served;
let browser: Browser;
let lake: string;
let page: Page;
let complaints: string[];

beforeAll(async () => {
  served = await Served.start();
  for (let index = 0; index < many; index++)
    served.put(`walk-${String(index).padStart(3, '0')}`, [
      journal.started(0),
      journal.evaluation(1, 0, index / many),
      journal.stopped(2, 0),
    ]);
  lake = await served.make('lake', 'starter-frozen-lake', { iterations: 60 });
  await served.train(lake, { HOLD: 20 }, ({ iteration }) => iteration === 20);
  await served.call('runs.adopt', { runId: `walk-${many - 1}` });
  browser = await chromium.launch({ executablePath: chromiumPath() });
});
afterAll(async () => {
  await browser?.close();
  await served?.close();
});
beforeEach(async () => {
  page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
  page.setDefaultTimeout(120_000);
  complaints = collectComplaints(page);
});
afterEach(() => page.close());

const open = (place: string) => page.goto(`${served.address}${place}`);
const main = () => page.locator('#main');

test('a table of 300 runs renders only visible rows, to its end', async () => {
  await open('/history');
  const table = page.getByRole('table', { name: 'Runs' });
  await table.getByRole('row').nth(5).waitFor();
  // Runs appear while they are being indexed.
  await page.locator(`[role="table"][aria-rowcount="${many + 2}"]`).waitFor();
  expect(await table.getByRole('row').count()).toBeLessThan(60);
  await page.getByRole('button', { name: 'Success' }).click();
  await table.getByRole('rowheader').first().getByText('walk-299').waitFor();
  await main().evaluate((element) => element.scrollTo(0, element.scrollHeight));
  await table.getByRole('rowheader').getByText('walk-000').waitFor();
  // The table is the end of the page.
  const gap = await page.evaluate(() => {
    const scrolled = document.getElementById('main')!;
    const rows = document.querySelector('[role="table"]')!.getBoundingClientRect();
    return scrolled.getBoundingClientRect().bottom - rows.bottom;
  });
  expect(gap).toBeLessThan(60);
  expect(complaints).toEqual([]);
});

test('selecting a run moves no row, and a wide table scrolls sideways with its header beside a fixed name column', async () => {
  await open('/history');
  const box = page.getByRole('checkbox', { name: 'Select walk-298' });
  await box.waitFor();
  const before = await box.boundingBox();
  await page.getByRole('checkbox', { name: 'Select walk-299' }).check();
  await page.getByText('1 selected').waitFor();
  expect(await box.boundingBox()).toEqual(before);
  await page.getByRole('button', { name: 'Columns' }).click();
  for (const name of ['Algorithm', 'Device', 'Note', 'Preset']) await page.getByLabel(name, { exact: true }).check();
  await page.keyboard.press('Escape');
  const column = async (role: 'columnheader' | 'cell') =>
    (await page.locator(`[role="${role}"][data-column="preset"]`).first().boundingBox())!.x;
  expect(await column('cell')).toBe(await column('columnheader'));
  const far = await column('cell');
  const name = page.getByRole('rowheader').first();
  const { x } = (await name.boundingBox())!;
  await page.locator('[data-column="preset"][role="cell"]').first().scrollIntoViewIfNeeded();
  await expect.poll(() => column('columnheader')).toBeLessThan(far);
  expect(await column('cell')).toBe(await column('columnheader'));
  expect((await name.boundingBox())!.x).toBe(x);
  expect(complaints).toEqual([]);
});

test('the keyboard alone finds a run, opens and cancels the stop dialog, and drafts and saves a note', async () => {
  await open('/start');
  await page.getByRole('heading', { level: 1 }).waitFor();
  await page.keyboard.press('Control+3');
  await page.getByRole('heading', { name: 'History' }).waitFor();
  await page.keyboard.press('Control+k');
  await page.locator('[role="dialog"] input:focus').waitFor();
  await page.keyboard.type('frozenlake');
  await page
    .getByRole('group', { name: 'Runs' })
    .getByRole('option', { name: /^FrozenLake/ })
    .waitFor();
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: /^FrozenLake/ }).waitFor();
  await page.keyboard.press('Control+.');
  const dialog = page.getByRole('dialog', { name: /^Stop FrozenLake/ });
  await dialog.waitFor();
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Pause', exact: true }).waitFor();
  await page.keyboard.press('?');
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).getByText('Start or resume').waitFor();
  await page.keyboard.press('Escape');

  await page.getByRole('button', { name: 'Add note' }).focus();
  await page.keyboard.press('Enter');
  await page.keyboard.type('half a thought');
  await page.keyboard.press('Escape');
  await page.getByText('Draft kept').waitFor();
  await page.locator(':focus', { hasText: 'Continue note' }).waitFor();
  await page.keyboard.press('Enter');
  await page.keyboard.type(', and its end');
  await page.keyboard.press('Control+Enter');
  await page.locator(':focus', { hasText: 'half a thought, and its end' }).waitFor();
  expect(complaints).toEqual([]);
});

test('a page opens at its top and restores its scroll position on back', async () => {
  await open(`/run/${lake}/configuration`);
  await page.locator('.config').waitFor();
  await main().evaluate((element) => element.scrollTo(0, 300));
  const position = await main().evaluate((element) => element.scrollTop);
  expect(position).toBeGreaterThan(0);
  await page.getByRole('link', { name: 'History' }).click();
  await page.getByRole('heading', { name: 'History' }).waitFor();
  expect(await main().evaluate((element) => element.scrollTop)).toBe(0);
  await page.goBack();
  await page.waitForFunction((top) => document.getElementById('main')!.scrollTop === top, position);
  expect(complaints).toEqual([]);
});

test('History and its dialogs pass axe in both themes', async () => {
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await open('/history');
  await page.getByRole('checkbox', { name: 'Select walk-299' }).check();
  expect(await violationsInBothThemes(page)).toEqual([]);
  await page.getByRole('button', { name: 'More for walk-299' }).click();
  await page.getByRole('menuitem', { name: 'Rename…' }).waitFor();
  expect(await violationsInBothThemes(page)).toEqual([]);
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Delete…' }).click();
  await page
    .getByRole('dialog')
    .getByText(/on disk/)
    .waitFor();
  expect(await violationsInBothThemes(page)).toEqual([]);
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.keyboard.press('Control+k');
  await page.getByRole('option').first().waitFor();
  expect(await violationsInBothThemes(page)).toEqual([]);
  for (const part of ['episodes', 'trash']) {
    await open(`/history/${part}`);
    await page.locator('.empty, li a').first().waitFor();
    expect(await violationsInBothThemes(page)).toEqual([]);
  }
  expect(complaints).toEqual([]);
});
