import { readdirSync, readFileSync, renameSync, rmSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { chromiumPath } from '../../scripts/lib/debian-packages.mjs';
import { starpo } from '../core/fixtures/child.ts';
import { Served } from '../renderer/screens/studio.ts';
import { collectComplaints } from './studio.ts';

/** Two browser pages and the command line share a data folder whose files change on disk. */

let served: Served;
let browser: Browser;
let pages: [Page, Page];
let complaints: string[];
let home: string;

beforeAll(async () => {
  served = await Served.start();
  home = join(served.folder, 'home');
  browser = await chromium.launch({ executablePath: chromiumPath() });
  const context = await browser.newContext({ reducedMotion: 'reduce' });
  context.setDefaultTimeout(120_000);
  pages = [await context.newPage(), await context.newPage()];
  complaints = pages.flatMap((page) => collectComplaints(page));
});
afterAll(async () => {
  await browser?.close();
  await served?.close();
});

const runFolder = (runId: string) => join(home, 'runs', runId);
const openBoth = (place: string) => Promise.all(pages.map((page) => page.goto(`${served.address}${place}`)));
const go = (page: Page, place: string) =>
  page.evaluate((to) => {
    location.hash = to;
  }, `#${place}`);

async function command(...args: string[]): Promise<string> {
  const { status, output, errors } = await starpo([...args, '--home', home], process.env).finished;
  expect(status, errors).toBe(0);
  return output;
}

async function addTag(page: Page, tag: string): Promise<void> {
  await page.getByLabel('Add tag').fill(tag);
  await page.keyboard.press('Enter');
}

test('concurrent changes by two pages and a command appear in all of them', async () => {
  const runId = await served.make('shared', 'starter-bandit', { iterations: 4 });
  await openBoth(`/run/${runId}`);
  for (const page of pages) await page.getByRole('heading', { level: 1 }).waitFor();
  const [first, second] = pages;
  await Promise.all([
    addTag(first, 'from-one'),
    addTag(second, 'from-two'),
    command('tag', runId, 'from-three'),
    command('star', runId),
  ]);
  for (const page of pages)
    for (const tag of ['from-one', 'from-two', 'from-three'])
      await page.getByText(tag, { exact: true }).first().waitFor();
  expect((await served.call('runs.get', { runId })).summary.marks).toMatchObject({
    tags: ['from-one', 'from-three', 'from-two'],
    starred: true,
  });
  // A reload shows the same.
  await first.reload();
  await first.getByText('from-two', { exact: true }).first().waitFor();
});

test('a note changed in another window is shown, and both versions can be kept', async () => {
  const runId = await served.make('noted', 'starter-bandit', { iterations: 4 });
  const [first, second] = pages;
  for (const page of pages) {
    await go(page, `/run/${runId}`);
    await page.getByRole('button', { name: 'Add note' }).click();
    await page.getByLabel('Note', { exact: true }).fill(page === first ? 'what one saw' : 'what two saw');
  }
  await first.keyboard.press('Control+Enter');
  await first.getByRole('button', { name: 'what one saw' }).waitFor();
  await second.getByText('The note was changed elsewhere.').waitFor();
  expect(await second.getByRole('button', { name: 'Save', exact: true }).isDisabled()).toBe(true);
  await second.getByRole('button', { name: 'Append mine' }).click();
  await second.getByRole('button', { name: 'Save', exact: true }).click();
  await first.getByRole('button', { name: 'what one saw what two saw' }).waitFor();
  expect((await served.call('runs.get', { runId })).summary.marks.note).toBe('what one saw\nwhat two saw');
});

test('a run that two pages start simultaneously starts once', async () => {
  const runId = await served.make('once', 'starter-bandit', { iterations: 4 });
  await Promise.all(pages.map((page) => go(page, `/run/${runId}`)));
  const starts = pages.map((page) => page.locator('#main').getByRole('button', { name: 'Start', exact: true }));
  for (const start of starts) await start.waitFor();
  // Playwright's clicks would wait for the second page, whose button may have gone.
  const buttons = await Promise.all(starts.map((start) => start.elementHandle()));
  await Promise.all(buttons.map((button) => button!.evaluate((element) => (element as HTMLElement).click())));
  await served.until(runId, ({ status }) => status === 'completed');
  const events = readFileSync(join(runFolder(runId), 'events.jsonl'), 'utf8')
    .trim()
    .split('\n');
  const types = events.map((line) => JSON.parse(line).type);
  expect(types.filter((type) => type === 'started')).toHaveLength(1);
  expect(types.filter((type) => type === 'iteration')).toHaveLength(4);
  for (const page of pages) await page.locator('#main').getByText('Completed').first().waitFor();
});

test('damaged episodes and a missing run folder are reported until the folder is back', async () => {
  const runId = await served.make('damaged', 'starter-frozen-lake', { iterations: 2 });
  await served.train(runId, {}, ({ status }) => status === 'completed');
  const [first, second] = pages;
  const folder = runFolder(runId);
  const [file] = readdirSync(join(folder, 'rollouts'))
    .filter((name) => name.endsWith('-train.jsonl.zst'))
    .reverse();
  truncateSync(join(folder, 'rollouts', file!), 20);
  await go(first, `/run/${runId}/replay`);
  await first
    .getByRole('alert')
    .getByText(/The file .* is invalid\./)
    .first()
    .waitFor();

  await go(second, `/run/${runId}/charts`);
  await second.getByRole('heading', { name: 'Metrics' }).waitFor();
  const aside = join(served.folder, 'aside');
  renameSync(folder, aside);
  await second.getByText('Run not found.').waitFor();
  await expect.poll(() => second.locator(`.sidebar a[href="#/run/${runId}"]`).count()).toBe(0);
  renameSync(aside, folder);
  await second.getByRole('heading', { name: 'Metrics' }).waitFor();
  rmSync(folder, { recursive: true });
  await second.getByText('Run not found.').waitFor();
  expect(complaints).toEqual([]);
});
