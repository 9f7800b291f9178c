import { readFileSync } from 'node:fs';
import { type Browser, type BrowserContextOptions, chromium, type Locator, type Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { frozenLake } from '../../core/environments/frozen-lake.ts';
import { chromiumPath } from '../../scripts/lib/debian-packages.mjs';
import { fakeRollout } from '../core/fixtures/fake-rollout.mjs';
import { Served } from '../renderer/screens/studio.ts';
import { violationsInBothThemes } from './axe.ts';
import { collectComplaints } from './studio.ts';

let studio: Served;
let browser: Browser;
let run: string;
let origin: string;
beforeAll(async () => {
  studio = await Served.start();
  run = await studio.make('lake', 'starter-frozen-lake', { iterations: 20 });
  await studio.train(run, {}, ({ status }) => status === 'completed');
  // The untrained policy fails every level.
  const { folder } = await studio.call('runs.get', { runId: run });
  fakeRollout(folder, {}, 0, 'frozen-lake', { ...frozenLake.preset, success: 0 }, 64, 1);
  origin = studio.address;
  browser = await chromium.launch({ executablePath: chromiumPath() });
});
afterAll(async () => {
  await browser?.close();
  await studio?.close();
});

/** Uses a page and expects no errors in the browser's console. */
async function on(view: string, options: BrowserContextOptions, act: (page: Page) => Promise<unknown>): Promise<void> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options });
  context.setDefaultTimeout(120_000);
  const page = await context.newPage();
  const complaints = collectComplaints(page);
  await page.goto(origin);
  await page.getByRole('heading', { level: 1 }).waitFor();
  await page.evaluate((hash) => {
    location.hash = hash;
  }, `/run/${run}${view}`);
  await act(page);
  expect(complaints).toEqual([]);
  await context.close();
}

const wall = (page: Page) => page.getByRole('region', { name: 'Boards' });
const picture = (page: Page) =>
  wall(page)
    .locator('canvas')
    .evaluate((canvas) => (canvas as HTMLCanvasElement).toDataURL());

test('with reduced motion the wall shows final frames, and a click opens the episode below', async () => {
  await on('', { reducedMotion: 'reduce' }, async (page) => {
    await wall(page).getByText('Iteration 20').waitFor();
    expect(await wall(page).getByRole('button').count()).toBe(0);
    const before = await picture(page);
    const colors = await wall(page)
      .locator('canvas')
      .evaluate((element) => {
        const { width, height } = element as HTMLCanvasElement;
        const { data } = (element as HTMLCanvasElement).getContext('2d')!.getImageData(0, 0, width, height);
        return new Set(new Uint32Array(data.buffer)).size;
      });
    expect(colors).toBeGreaterThan(20);
    const group = wall(page).getByRole('link', { name: /^Group 2:/ });
    const { width } = (await group.boundingBox())!;
    expect(await picture(page)).toBe(before);
    await group.click({ position: { x: width - 4, y: 30 } });
    await page.waitForURL(/\/replay\/000020-train-00(1[6-9]|2\d|3[01])$/);
    expect(page.url()).not.toMatch(/0016$/);
  });
});

test('the wall plays and pauses', async () => {
  await on('', {}, async (page) => {
    // The boards play once for a few seconds, so the page itself presses the buttons.
    await wall(page).getByRole('button', { name: 'Play boards again' }).waitFor();
    await wall(page).evaluate(async (section) => {
      const canvas = section.querySelector('canvas')!;
      const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
      const press = (label: string) => section.querySelector<HTMLElement>(`button[aria-label="${label}"]`)!.click();
      const before = canvas.toDataURL();
      press('Play boards again');
      while (canvas.toDataURL() === before) await frame();
      press('Pause boards');
    });
    await wall(page).getByRole('button', { name: 'Play boards', exact: true }).waitFor();
    const paused = await picture(page);
    // Far more than the time between two frames of the boards.
    await page.evaluate(async () => {
      for (let left = 60; left > 0; left--) await new Promise((resolve) => requestAnimationFrame(resolve));
    });
    expect(await picture(page)).toBe(paused);
  });
});

test('at 200 % zoom the board and its controls fit the window, with the conversation below', async () => {
  await on('/replay/000020-train-0003', { viewport: { width: 720, height: 450 } }, async (page) => {
    const board = page.getByRole('region', { name: 'Player' }).getByRole('img');
    await board.waitFor();
    // The header grows when the files are loaded.
    await page.getByRole('link', { name: 'Reasoning' }).waitFor();
    const box = async (locator: Locator) => (await locator.boundingBox())!;
    const inWindow = async (locator: Locator) => {
      const { y, height } = await box(locator);
      return y >= 0 && y + height <= 450;
    };
    await expect.poll(() => inWindow(board)).toBe(true);
    await expect.poll(() => inWindow(page.getByRole('button', { name: 'Play (space)' }))).toBe(true);
    const { y, height } = await box(board);
    expect((await box(page.getByRole('region', { name: 'Conversation' }))).y).toBeGreaterThanOrEqual(y + height);
    await page.getByRole('heading', { name: 'Turn 2' }).scrollIntoViewIfNeeded();
    const sideways = () => document.querySelector('main')!.scrollWidth - document.querySelector('main')!.clientWidth;
    expect(await page.evaluate(sideways)).toBe(0);
  });
});

test('Play is reachable with a few presses of Tab', async () => {
  await on('/replay/000020-train-0003', {}, async (page) => {
    await page.getByRole('link', { name: /^Group 1, episode 4: / }).focus();
    const play = page.getByRole('button', { name: 'Play (space)' });
    let tabs = 0;
    while (!(await play.evaluate((button) => button === document.activeElement)) && tabs < 10) {
      await page.keyboard.press('Tab');
      tabs += 1;
    }
    expect(tabs).toBeLessThan(10);
  });
});

test('an episode can be saved as a GIF, a page and JSON without fetching more code', async () => {
  await on('/replay/000020-train-0003', { acceptDownloads: true }, async (page) => {
    await page.getByRole('button', { name: 'Save' }).waitFor();
    const fetched: string[] = [];
    page.on('request', (request) => {
      if (request.resourceType() === 'script' && request.url().startsWith('http')) fetched.push(request.url());
    });
    const saved = async (name: string) => {
      await page.getByRole('button', { name: 'Save' }).click();
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('menuitem', { name }).click(),
      ]);
      return readFileSync(await download.path());
    };
    const gif = await saved('Animated GIF');
    expect(gif.subarray(0, 6).toString()).toBe('GIF89a');
    expect(gif.readUInt16LE(6)).toBe(384);
    const html = await saved('Web page');
    expect(html.toString()).toMatch(/^<!doctype html>[\s\S]*data:image\/png;base64,/);
    const opened = await page.context().newPage();
    await opened.route('http://saved/', (route) => route.fulfill({ body: html, contentType: 'text/html' }));
    await opened.goto('http://saved/');
    await opened.getByRole('button', { name: 'Play' }).click();
    // The last board stays; each other is visible for 600 ms only.
    await opened.getByText(/^(\d+) of \1: /).waitFor();
    await opened.close();
    expect(JSON.parse((await saved('JSON')).toString())).toMatchObject({
      run,
      episode: { id: '000020-train-0003', steps: [{ tokens: { ids: expect.any(String) } }, {}] },
    });
    expect(fetched).toEqual([]);
  });
});

/** Returns the delays of a GIF's frames in ms; each is in a block that begins with `21 f9 04`. */
function delaysOf(gif: Buffer): number[] {
  const delays: number[] = [];
  const mark = Buffer.from([0x21, 0xf9, 0x04]);
  for (let at = gif.indexOf(mark); at >= 0; at = gif.indexOf(mark, at + 1)) delays.push(10 * gif.readUInt16LE(at + 4));
  return delays;
}

test('the clip of one level plays, pauses and can be saved as a GIF', async () => {
  await on('', { acceptDownloads: true }, async (page) => {
    const clip = page.getByRole('figure', { name: 'Clip of one level over the checkpoints' });
    const still = () => clip.locator('canvas').evaluate((canvas) => (canvas as HTMLCanvasElement).toDataURL());
    // It plays only in view.
    await clip.scrollIntoViewIfNeeded();
    const before = await still();
    await expect.poll(still, { timeout: 120_000 }).not.toBe(before);
    await clip.getByRole('button', { name: 'Pause clip' }).click();
    await clip.getByRole('button', { name: 'Play clip' }).waitFor();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      clip.getByRole('button', { name: 'Save GIF' }).click(),
    ]);
    expect(download.suggestedFilename()).toMatch(/^FrozenLake.*-level-\d+\.gif$/);
    const gif = readFileSync(await download.path());
    expect(gif.subarray(0, 6).toString()).toBe('GIF89a');
    const delays = delaysOf(gif);
    // Each stage ends with a pause; the last pause is the longest.
    expect(delays.filter((delay) => delay > 1000).length).toBe(await clip.getByRole('row').count());
    expect(delays.at(-1)).toBeGreaterThan(2000);
    await clip.getByRole('link').first().click();
    await page.waitForURL(/\/replay\/000000-frozen-lake-/);
  });
});

test('axe reports no violations in either theme', async () => {
  await on('', { reducedMotion: 'reduce' }, async (page) => {
    await wall(page).getByText('Iteration 20').waitFor();
    expect(await violationsInBothThemes(page)).toEqual([]);
    await page.evaluate((hash) => {
      location.hash = hash;
    }, `/run/${run}/replay/000020-train-0003`);
    await page.getByLabel('Color tokens by').selectOption('entropies');
    await page.locator('[data-own-keys]').first().focus();
    await page.getByRole('region', { name: 'Group', exact: true }).waitFor();
    expect(await violationsInBothThemes(page)).toEqual([]);
    await page.getByRole('button', { name: 'Groups' }).click();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('menu').waitFor();
    expect(await violationsInBothThemes(page)).toEqual([]);
    await page.keyboard.press('Escape');
    await page.getByRole('menu').waitFor({ state: 'hidden' });
    await page.getByRole('link', { name: 'Then and now' }).click();
    await page.getByRole('button', { name: 'Next level' }).click();
    await page.getByRole('region', { name: /^Now/ }).getByRole('img').waitFor();
    expect(await violationsInBothThemes(page)).toEqual([]);
    const response = page.getByRole('region', { name: 'Response' }).first();
    const height = await response.evaluate((region) => {
      region.querySelector('blockquote')!.textContent = 'word '.repeat(5_000);
      return region.getBoundingClientRect().height / window.innerHeight;
    });
    expect(height, 'a long response scrolls').toBeLessThanOrEqual(0.3);
    await page.evaluate((hash) => {
      location.hash = hash;
    }, `/run/${run}/group/20/1`);
    await page.getByRole('list', { name: 'Episodes of the group' }).waitFor();
    await page.getByRole('group', { name: 'Playback' }).waitFor();
    expect(await violationsInBothThemes(page)).toEqual([]);
    await page.evaluate((hash) => {
      location.hash = hash;
    }, `/run/${run}/charts`);
    await page.getByRole('region', { name: 'Timeline' }).waitFor();
    await page
      .getByRole('link', { name: /^Reward / })
      .first()
      .waitFor();
    expect(await violationsInBothThemes(page)).toEqual([]);
  });
});
