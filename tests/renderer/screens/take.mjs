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
  ['start-empty', '?empty#/start'],
  ['start-trainer-missing', '?trainer-missing#/start'],
  ['run', '#/run/frozen-lake-7'],
  ['run-zoomed', '#/run/frozen-lake-7', zoomAndPoint],
  ['run-panels', '#/run/frozen-lake-7', openPanels],
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
