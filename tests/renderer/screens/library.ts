// Pictures of History, its questions and the palette: npm run build, then node tests/renderer/screens/library.ts FOLDER [AXE] [PATTERN] [WIDTH]
import { mkdir } from 'node:fs/promises';
import { resolve } from 'node:path';
import { chromium, type Page } from 'playwright-core';
import { violations } from '../../e2e/axe.ts';
import { watch } from './still.ts';
import { busyStudio } from './studio.ts';

type Steps = (page: Page) => Promise<unknown>;

const folder = resolve(process.argv[2] ?? 'out/screens');
/** Whether axe looks too: anything says so. */
const axe = process.argv[3];
const only = process.argv[4];
const onlyWidth = Number(process.argv[5] ?? 0);
await mkdir(folder, { recursive: true });
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM_PATH ?? '/usr/bin/chromium' });
const served = await busyStudio();
const { runs } = served;
await served.call('runs.annotate', {
  ...{ runId: runs.sokoban!, name: 'Boxes, twice the learning rate, and a name that goes on for a while' },
  addTags: ['boxes', 'lr 2e-4', 'second try', 'for the report'],
  note: 'Learned to push along the wall first.',
});
await served.call('runs.delete', { runIds: [runs.created!] });

const pictures: [name: string, address: string, steps?: Steps][] = [
  ['history', '/history'],
  ['history-chosen', '/history', choose],
  ['history-filtered', '/history', (page) => page.getByLabel('Search runs').fill('bandit')],
  ['history-none', '/history', (page) => page.getByLabel('Search runs').fill('nothing is called this')],
  [
    'history-menu',
    '/history',
    (page) =>
      page
        .getByLabel(/^More for/)
        .nth(2)
        .click(),
  ],
  ['history-delete', '/history', askToDelete],
  ['history-clean', '/history', (page) => page.getByRole('button', { name: 'Free disk space…' }).click()],
  ['history-import', '/history', (page) => page.getByRole('button', { name: 'Import a run…' }).click()],
  ['history-trash', '/history/trash'],
  ['history-episodes', '/history/episodes', (page) => page.getByLabel('Search what episodes say').fill('go')],
  ['palette', `/run/${runs.lake}`, (page) => page.keyboard.press('Control+k')],
  ['palette-typed', '/start', typeInPalette],
  ['keys', '/start', (page) => page.keyboard.press('Shift+?')],
  ['run-head', `/run/${runs.lake}`],
  ['run-head-paused', `/run/${runs.paused}`, askForCheckpoint],
  ['run-head-completed', `/run/${runs.sokoban}`, (page) => page.getByLabel(/^More for/).click()],
  [
    'run-head-checkpoints',
    `/run/${runs.bandit}`,
    (page) => page.getByRole('button', { name: 'Fork from a checkpoint' }).click(),
  ],
  ['run-head-stop', `/run/${runs.lake}`, (page) => page.getByRole('button', { name: 'Stop…' }).click()],
  ['run-head-rename', `/run/${runs.lake}`, rename],
  ['run-head-export', `/run/${runs.bandit}`, (page) => page.getByRole('button', { name: 'Export…' }).click()],
  ['run-head-note', `/run/${runs.lake}`, (page) => page.getByRole('button', { name: 'Add a note' }).click()],
];

for (const [colorScheme, width, height] of [
  ['light', 1440, 900],
  ['dark', 1440, 900],
  ['light', 1024, 700],
  ['dark', 1920, 1080],
  // 1440 at a zoom of 200 %.
  ['light', 720, 450],
] as const) {
  if (onlyWidth && onlyWidth !== width) continue;
  const context = await browser.newContext({ viewport: { width, height }, colorScheme });
  for (const [name, address, steps] of pictures) {
    if (only && !name.match(only)) continue;
    const page = await context.newPage();
    const watched = watch(page);
    page.setDefaultTimeout(10_000);
    const say = (text: string) => console.log(`${name} ${colorScheme} ${width}: ${text}`);
    page.on('pageerror', (error) => say(error.message));
    page.on('console', (message) => message.type() === 'error' && say(message.text()));
    await page.goto(`${served.address}${address}`);
    await page.waitForSelector('h1');
    await watched.still();
    await Promise.resolve(steps?.(page)).catch((error) => say(String(error).slice(0, 300)));
    await watched.still();
    await page.screenshot({ path: resolve(folder, `${name}-${colorScheme}-${width}.png`) });
    if (axe) for (const violation of await violations(page)) say(violation);
    await page.close();
  }
  await context.close();
}
await served.close();
await browser.close();

async function choose(page: Page): Promise<void> {
  const boxes = page.getByRole('checkbox', { name: /^Choose / });
  for (const place of [2, 3, 4]) await boxes.nth(place).check();
}

async function askToDelete(page: Page): Promise<void> {
  await choose(page);
  await page.getByRole('button', { name: 'Delete…' }).click();
}

async function typeInPalette(page: Page): Promise<void> {
  await page.keyboard.press('Control+k');
  await page.keyboard.type('froz');
}

async function askForCheckpoint(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Checkpoint', exact: true }).click();
}

async function rename(page: Page): Promise<void> {
  await page.getByLabel(/^More for/).click();
  await page.getByRole('menuitem', { name: 'Rename…' }).click();
}
