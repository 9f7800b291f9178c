import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isAlarm } from '../../core/contract/trap-words.ts';
import { readLabeledRun } from '../../core/echo-trap/labeled-runs.ts';
import { Monitor } from '../../core/echo-trap/monitor.ts';
import { chromiumPath } from '../../scripts/lib/debian-packages.mjs';
import { root } from '../../scripts/lib/process.mjs';
import { Served } from '../renderer/screens/studio.ts';
import { violations } from './axe.ts';
import { collectComplaints, screenshots } from './studio.ts';

/** Metrics of a recorded run that collapsed. A fake trainer replays them and waits at the iterations below. */
const recorded = readLabeledRun(join(root, 'benchmarks/echo-trap/tuning/lake-grpo-5e-4-seed-1'))!;
const rescued = readLabeledRun(join(root, 'benchmarks/echo-trap/tuning/lake-starpo-s-1e-4-seed-1'))!;
const preset = 'starter-frozen-lake-trap';

let studio: Served;
let browser: Browser;
let run: string;
/** The iteration at which the detectors raise the alarm on the recorded metrics. */
let alarm: number;
const early = 20;

beforeAll(async () => {
  studio = await Served.start();
  // One epoch per update, as in the recorded run.
  run = await studio.make('trap', preset, {
    iterations: 120,
    'policy_loss.epochs': 1,
    'evaluation.every': 0,
  });
  const { config } = await studio.call('runs.get', { runId: run });
  const monitor = new Monitor(config);
  monitor.addAll(recorded.points);
  alarm = monitor.alerts.find(({ level }) => isAlarm(level))!.iteration;
  const file = (name: string) => join(studio.folder, name);
  writeFileSync(file('recorded.json'), JSON.stringify(recorded.points));
  writeFileSync(file('rescued.json'), JSON.stringify(rescued.points));
  // For the trainer that the page starts later.
  process.env.FAKE_TRAINER_FORK_SERIES = file('rescued.json');
  const trainer = { SERIES: file('recorded.json'), HOLD: `${early},${alarm}` };
  await studio.train(run, trainer, ({ iteration }) => iteration === early);
  browser = await chromium.launch({ executablePath: chromiumPath() });
});
afterAll(async () => {
  await browser?.close();
  await studio?.close();
  delete process.env.FAKE_TRAINER_FORK_SERIES;
});

async function picture(page: Page, name: string): Promise<void> {
  mkdirSync(screenshots, { recursive: true });
  await page.screenshot({ path: join(screenshots, `${name}.png`) });
}

/** Returns the desktop notifications of the page. */
const notifications = (page: Page): Promise<{ title: string; body: string }[]> =>
  page.evaluate(() => (globalThis as unknown as { shown: { title: string; body: string }[] }).shown);

test('a collapsing run warns, shows why, and is rolled back', async () => {
  const context = await browser.newContext({ viewport: { width: 1440, height: 1000 } });
  context.setDefaultTimeout(120_000);
  const page = await context.newPage();
  // A headless browser grants no notifications. This grants and records them, and reports the window as unfocused.
  await page.addInitScript(() => {
    const shown: { title: string; body: string }[] = [];
    class Noted extends Notification {
      static override permission: NotificationPermission = 'default';
      static override async requestPermission(): Promise<NotificationPermission> {
        Noted.permission = 'granted';
        return Noted.permission;
      }
      constructor(title: string, options: NotificationOptions = {}) {
        super(title, options);
        shown.push({ title, body: options.body ?? '' });
      }
    }
    Object.assign(window, { Notification: Noted, shown });
    document.hasFocus = () => false;
  });
  const complaints = collectComplaints(page);
  await page.goto(studio.address);
  await page.getByRole('heading', { level: 1 }).waitFor();
  await page.evaluate((hash) => {
    location.hash = hash;
  }, `/run/${run}`);

  const panel = page.locator('[data-echo-trap]');
  const indicators = page.getByRole('list', { name: 'Echo Trap indicators' });
  await panel.getByText('Healthy').waitFor();
  await panel.getByRole('button', { expanded: false }).first().click();
  await page.getByRole('button', { name: 'Notify me' }).click();
  await page.getByRole('button', { name: 'Notify me', pressed: true }).waitFor();
  expect(await indicators.getByRole('listitem').count()).toBe(6);
  expect(await indicators.locator('[data-state="on"]').count()).toBe(0);
  expect(await notifications(page)).toEqual([]);

  await studio.call('runs.command', { runId: run, command: 'checkpoint' });
  await page.getByRole('link', { name: 'Echo Trap: collapse is near', exact: true }).waitFor();
  await indicators.locator('[data-state="on"]').first().waitFor();
  expect(await indicators.getByRole('listitem').count()).toBe(6);
  await expect.poll(() => notifications(page)).toHaveLength(1);
  const [note] = await notifications(page);
  expect(note!.title).toBe('Echo Trap: collapse is near');
  expect(note!.body).toContain(`iteration ${alarm}. `);
  const mark = page.locator(`[data-chart] [data-tooltip*="at iteration ${alarm}"]`).first();
  // Charts are drawn only when visible.
  await page.locator('[data-chart]').first().scrollIntoViewIfNeeded();
  await mark.waitFor({ state: 'attached' });
  await picture(page, 'echo-trap-warning');
  const usual = page.viewportSize()!;
  await page.setViewportSize({ width: 1024, height: 700 });
  const boxOf = async (part: string) => (await page.locator(`.run-link ${part}`).first().boundingBox())!;
  const [alarmMark, initials] = [await boxOf('.run-link-trap'), await boxOf('.run-link-initials')];
  expect(alarmMark.x + alarmMark.width, 'the alarm is left of the initials').toBeLessThanOrEqual(initials.x);
  await page.setViewportSize(usual);

  await page.evaluate((hash) => {
    location.hash = hash;
  }, `/run/${run}/thoughts`);
  await page.getByRole('list', { name: /^First reasoning of iteration/ }).waitFor();
  expect(await page.getByRole('slider').getAttribute('aria-valuetext')).toMatch(/^Iteration \d+$/);
  await picture(page, 'echo-trap-thoughts');
  await page.goBack();

  await page
    .getByRole('button', { name: /^Roll back to iteration \d+…: / })
    .first()
    .click();
  await page.getByRole('dialog').getByText('weights of iteration').waitFor();
  await picture(page, 'echo-trap-roll-back');
  await page.getByRole('button', { name: 'Roll back', exact: true }).click();
  await page.waitForURL((url) => /#\/run\/./.test(url.hash) && !url.hash.includes(run));
  await page
    .getByRole('list', { name: 'Forks' })
    .getByText(/^Forked from/)
    .waitFor();
  await page.getByText('Completed').first().waitFor();
  await page.locator('[data-chart] > p', { hasText: 'Parent: ' }).first().waitFor({ state: 'attached' });
  await picture(page, 'echo-trap-fork');

  await page.getByRole('list', { name: 'Forks' }).getByRole('link', { name: 'Show rescue' }).click();
  await page.waitForURL((url) => url.hash === `#/run/${run}/rescue`);
  await page.getByText(/^Success ended at .* after the roll-back/).waitFor();
  await page.getByRole('figure', { name: 'Success' }).locator('[data-tone="warning"]').waitFor({ state: 'attached' });
  await picture(page, 'echo-trap-rescue');
  expect(await violations(page)).toEqual([]);
  const saved = async (kind: string) => {
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('menuitem', { name: `Save as ${kind}` }).click(),
    ]);
    expect(file.suggestedFilename()).toMatch(new RegExp(`-rescue\\.${kind.toLowerCase()}$`));
    const path = join(screenshots, `echo-trap-rescue-saved.${kind.toLowerCase()}`);
    await file.saveAs(path);
    return readFileSync(path);
  };
  const png = await saved('PNG');
  expect([png.readUInt32BE(0), png.readUInt32BE(16)]).toEqual([0x89504e47, 1920]);
  // The saved page shows the same without a server.
  const copy = await context.newPage();
  await copy.setContent((await saved('HTML')).toString());
  expect(await copy.getByRole('table').innerText()).toContain('Success, last ten iterations');
  expect(await copy.locator('svg').first().textContent()).toContain(`Warning at ${alarm}`);
  await picture(copy, 'echo-trap-rescue-page');
  await copy.close();
  expect(complaints).toEqual([]);
  await context.close();
});
