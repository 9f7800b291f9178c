// Pictures of every page with made-up data, for people to look at: node tests/renderer/screens/take.mjs FOLDER [AXE_SCRIPT]
import { mkdir } from 'node:fs/promises';
import { resolve } from 'node:path';
import react from '@vitejs/plugin-react';
import { chromium } from 'playwright-core';
import { createServer } from 'vite';

const here = import.meta.dirname;
const folder = resolve(process.argv[2] ?? 'out/screens');
const axe = process.argv[3];
const only = process.argv[4];

const pages = [
  ['start', '#/start'],
  ['start-baseline', '#/start', chooseBaselines],
  ['start-published', '?gpu#/start', scrollToPublished],
  ['start-published-no-gpu', '?old-gpu#/start', scrollToPublished],
  ['start-published-config', '?gpu#/start', openPresetConfig],
  ['start-empty', '?empty#/start'],
  ['start-trainer-missing', '?trainer-missing#/start'],
  ['run', '#/run/frozen-lake-7'],
  ['run-zoomed', '#/run/frozen-lake-7', zoomAndPoint],
  ['run-panels', '#/run/frozen-lake-7', openPanels],
  ['run-memory', '?gpu#/run/frozen-lake-7', openMemory],
  ['run-queued', '#/run/bandit-8'],
  ['run-marked', '#/run/bandit-5', writeNote],
  ['run-warned', '#/run/frozen-lake-7', warn],
  ['start-queue', '#/start', scrollToQueue],
  ['run-failed', '#/run/frozen-lake-4'],
  ['run-created', '#/run/frozen-lake-1'],
  ['run-unknown', '#/run/nothing'],
  ['replay', '#/run/frozen-lake-7/replay', 4],
  ['replay-slippery', '#/run/slippery-6/replay/000041-train-0020', 2],
  ['replay-fall', '#/run/slippery-6/replay/000041-train-0025', 3],
  ['replay-sokoban', '#/run/sokoban-8/replay/000060-train-0000', 2],
  ['replay-sokoban-lost', '#/run/sokoban-8/replay/000060-train-0001', 5],
  ['replay-bandit', '#/run/bandit-5/replay', 1],
];

const server = await createServer({
  configFile: false,
  root: here,
  publicDir: resolve(here, '../../../renderer/public'),
  plugins: [react()],
  cacheDir: resolve(folder, '.vite'),
  logLevel: 'warn',
  server: { port: 0, fs: { allow: [resolve(here, '../../..')] } },
});
await server.listen();
const origin = server.resolvedUrls.local[0];
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM_PATH ?? '/usr/bin/chromium' });
await mkdir(folder, { recursive: true });

for (const [colorScheme, width, height] of [
  ['light', 1440, 900],
  ['dark', 1440, 900],
  ['light', 1024, 700],
  ['dark', 1024, 700],
]) {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme });
  for (const [name, address, steps = 0] of pages) {
    if (only && !name.match(only)) continue;
    const page = await context.newPage();
    page.on('pageerror', (error) => console.log(`${name}: ${error.message}`));
    page.on('console', (message) => message.type() === 'error' && console.log(`${name}: ${message.text()}`));
    await page.goto(`${origin}${address}`);
    await page.waitForSelector('h1, .note');
    await page.waitForLoadState('networkidle');
    if (typeof steps === 'function') await steps(page);
    else {
      for (let step = 0; step < steps; step++) {
        await page.keyboard.press('ArrowRight');
        await page.waitForTimeout(500);
      }
    }
    await page.waitForTimeout(300);
    await page.screenshot({ path: resolve(folder, `${name}-${colorScheme}-${width}.png`) });
    if (axe) {
      await page.addScriptTag({ path: axe });
      const { violations } = await page.evaluate(() =>
        globalThis.axe.run(document, { resultTypes: ['violations'] }),
      );
      for (const { id, impact, nodes } of violations)
        console.log(
          `${name} ${colorScheme} ${width}: ${id} (${impact}) ${nodes
            .map((node) => node.target.join(' '))
            .slice(0, 4)
            .join(' | ')}`,
        );
    }
    await page.close();
  }
  await context.close();
}
await browser.close();
await server.close();

async function zoomAndPoint(page) {
  await page.getByRole('button', { name: 'Smooth' }).click();
  const plot = page.locator('.chart-plot .u-over').nth(1);
  const { x, y, width, height } = await plot.boundingBox();
  await page.mouse.move(x + width * 0.3, y + height / 2);
  await page.mouse.down();
  await page.mouse.move(x + width * 0.8, y + height / 2, { steps: 5 });
  await page.mouse.up();
  await page.evaluate(() => globalThis.fakeCore.advance('frozen-lake-7'));
  await page.mouse.move(x + width * 0.5, y + height / 2, { steps: 3 });
}

async function openPanels(page) {
  await page.locator('summary', { hasText: 'Log' }).click();
  await page.locator('summary', { hasText: 'Configuration' }).click();
  await page.locator('.config').scrollIntoViewIfNeeded();
}

async function openMemory(page) {
  await page.locator('summary', { hasText: 'Memory' }).click();
  await page.locator('.memory').scrollIntoViewIfNeeded();
}

async function scrollToPublished(page) {
  await page.locator('.model-section h2').evaluate((heading) => heading.scrollIntoView());
}

/** Of the largest model, whose parts don't all fit. */
async function openPresetConfig(page) {
  await page.getByRole('button', { name: '3B', exact: true }).click();
  await page.getByRole('button', { name: 'Look at the configuration' }).first().click();
  await page.locator('.model-section .config').scrollIntoViewIfNeeded();
}

/** By the keyboard: the arrows move through the choice of an algorithm. */
async function chooseBaselines(page) {
  for (const task of ['FrozenLake', 'Sokoban']) {
    await page
      .getByRole('article', { name: task, exact: true })
      .getByRole('radio', { checked: true })
      .focus();
    await page.keyboard.press('ArrowUp');
  }
}

async function writeNote(page) {
  await page.locator('.mark-note').click();
  const archived = page.locator('.nav-archived');
  if (await archived.isVisible()) await archived.click();
}

async function warn(page) {
  await page.evaluate(() => {
    const core = globalThis.fakeCore;
    const runId = 'frozen-lake-7';
    const run = core.runs.find(({ id }) => id === runId);
    run.marks = {
      tags: ['baseline', 'lr 2e-4'],
      note: 'Twice the learning rate.',
      starred: true,
      archived: false,
    };
    run.stalled = {
      code: 'trainer_stalled',
      phase: 'update',
      since: Date.now() - 200_000,
      message: 'The trainer has said nothing since 14:03:12, in the phase "update".',
      hint: 'Its process is stopped: `kill -CONT 4711` lets it go on. Nothing is lost: a run whose process was ended can be resumed from its last checkpoint.',
    };
    core.notify('run', run);
    const warning = {
      code: 'storage_budget_near',
      message: 'The run takes 104 MB of its storage budget of 110 MB; the next checkpoint may pass it.',
      hint: 'Delete checkpoints that you don’t need; in the next run set rollout_files.keep_last, a larger checkpoint.every or a larger budget.',
    };
    core.notify('storage', { runId, storage: { ...core.storage, budget: 110e6, warnings: [warning] } });
    const alert = { id: 'a', kind: 'entropy_falling', severity: 'warning', iteration: 81, state: 'raised' };
    const times = { raisedAt: 1, changedAt: 1, snoozedUntil: null };
    const message = 'The entropy fell by half within ten iterations.';
    core.notify('alerts', { runId, alerts: [{ ...alert, ...times, message }] });
  });
}

async function scrollToQueue(page) {
  await page.locator('#queue').scrollIntoViewIfNeeded();
  await page.locator('.system-line').scrollIntoViewIfNeeded();
}
