import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readHost } from '../../core/data-folder/host-file.ts';
import { chromiumPath } from '../../scripts/lib/debian-packages.mjs';
import { newTinyRun } from '../integration/tiny-run.ts';
import { collectComplaints, type Studio, startStudio } from './studio.ts';

/** Simulates sleep: suspends the server, the page, or everything including the real trainer. */

let studio: Studio;
let browser: Browser;
let pages: Page[];
let complaints: string[];

beforeAll(async () => {
  studio = await startStudio();
  browser = await chromium.launch({ executablePath: chromiumPath() });
  const context = await browser.newContext({ reducedMotion: 'reduce' });
  pages = [await context.newPage(), await context.newPage()];
  for (const page of pages) page.setDefaultTimeout(120_000);
  complaints = pages.flatMap((page) => collectComplaints(page));
});
afterAll(async () => {
  await browser?.close();
  await studio?.close();
});

const eventsOf = (folder: string): { seq: number; type: string; iteration?: number }[] =>
  readFileSync(join(folder, 'events.jsonl'), 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));

const lastIteration = (folder: string) => eventsOf(folder).findLast(({ type }) => type === 'iteration')?.iteration ?? 0;

/** Waits for more iterations of the trainer and returns the last. */
async function trainFurther(folder: string): Promise<number> {
  const before = lastIteration(folder);
  await expect.poll(() => lastIteration(folder), { timeout: 120_000 }).toBeGreaterThan(before + 3);
  return lastIteration(folder);
}

const shownIteration = async (page: Page) =>
  Number(/Iteration\s*(\d+) of/.exec((await page.locator('.run-facts').textContent()) ?? '')?.[1]);

/** Waits until the page shows the iteration or a later one. */
const untilShown = (page: Page, iteration: number) =>
  expect.poll(() => shownIteration(page), { timeout: 120_000 }).toBeGreaterThanOrEqual(iteration);

/** Freezes the page until the returned function is called; headless Chromium doesn't freeze background pages. */
async function freeze(page: Page): Promise<() => Promise<unknown>> {
  const control = await page.context().newCDPSession(page);
  const halted = new Promise((resolve) => control.once('Debugger.paused', resolve));
  await control.send('Debugger.enable');
  await control.send('Debugger.pause');
  await halted;
  return () => control.detach();
}

test('suspended parts catch up, nothing starts twice, and training is unaffected', async () => {
  const folder = await newTinyRun(studio.home, {
    iterations: 50_000,
    'evaluation.every': 0,
    'checkpoint.every': 50_000,
    // Slower than the smallest run, whose iterations would overload the pages and the machine.
    'rollout.groups': 16,
    'policy_loss.mini_batch': 32,
  });
  const [first, second] = pages as [Page, Page];
  const core = readHost(studio.home)!.pid;
  for (const page of pages) {
    await page.goto(studio.address);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.evaluate(
      (hash) => {
        location.hash = hash;
      },
      `/run/${basename(folder)}`,
    );
  }

  // Two windows press Start while the server is suspended.
  const starts = pages.map((page) => page.locator('#main').getByRole('button', { name: 'Start', exact: true }));
  for (const start of starts) await start.waitFor();
  process.kill(core, 'SIGSTOP');
  for (const start of starts) await start.click();
  process.kill(core, 'SIGCONT');
  for (const page of pages) await page.getByRole('button', { name: 'Pause', exact: true }).waitFor();
  await trainFurther(folder);

  // The server is suspended; the trainer doesn't need it.
  process.kill(core, 'SIGSTOP');
  await first.getByRole('button', { name: 'Star', exact: true }).click();
  const without = await trainFurther(folder);
  process.kill(core, 'SIGCONT');
  await untilShown(first, without);
  for (const page of pages) await page.getByRole('button', { name: 'Unstar', exact: true }).waitFor();

  // One page is frozen, as browsers do in the background.
  const thaw = await freeze(second);
  const unseen = await trainFurther(folder);
  await thaw();
  await untilShown(second, unseen);

  // Everything is suspended.
  const { pid: trainer } = JSON.parse(readFileSync(join(folder, 'trainer.lock'), 'utf8'));
  for (const process_ of [core, trainer]) process.kill(process_, 'SIGSTOP');
  const isStopped = (pid: number) => /^State:\s+T/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  await expect.poll(() => [core, trainer].every(isStopped)).toBe(true);
  for (const process_ of [core, trainer]) process.kill(process_, 'SIGCONT');
  const awake = await trainFurther(folder);
  for (const page of pages) await untilShown(page, awake);

  await first.getByRole('button', { name: /^Stop/ }).click();
  await first.getByRole('dialog').getByRole('button', { name: 'Stop' }).click();
  for (const page of pages) await page.locator('#main').getByText('Stopped').first().waitFor();
  const events = eventsOf(folder);
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, at) => at));
  expect(events.filter(({ type }) => type === 'started')).toHaveLength(1);
  const iterations = events.flatMap(({ type, iteration }) => (type === 'iteration' ? [iteration] : []));
  expect(iterations).toEqual(iterations.map((_, at) => at + 1));
  for (const page of pages) await expect.poll(() => shownIteration(page)).toBe(iterations.length);
  expect(complaints).toEqual([]);
});
