import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { Page, small } from './page.tsx';

vi.mock('uplot', () => import('./uplot.ts'));

let page: Page;
afterEach(() => page.close());

const part = 'section[aria-label="TensorBoard"]';
const choice = () => page.find<HTMLInputElement>(`${part} input[type="checkbox"]`);

test('TensorBoard files are switched on by the keyboard, with a folder and a command to copy', async () => {
  const copied: string[] = [];
  vi.stubGlobal('navigator', {
    ...navigator,
    clipboard: { writeText: async (text: string) => void copied.push(text) },
  });
  page = await Page.on(undefined, undefined, { reacts: true });
  const folder = join(page.world.home, 'tensorboard');
  page.open('#/system');
  const box = await page.shown(choice);
  expect([box.labels![0]!.textContent, box.checked, box.tabIndex]).toEqual([
    'Write TensorBoard files while runs train',
    false,
    0,
  ]);
  expect(page.find(`${part} code`)).toBeNull();
  // What the space bar does to a checkbox that has the focus.
  box.focus();
  expect(document.activeElement).toBe(box);
  box.click();
  await page.shown(() => choice()?.checked);
  expect(page.core.tensorBoard.state.on).toBe(true);
  expect(page.all(`${part} code`).map(({ textContent }) => textContent)).toEqual([
    folder,
    `tensorboard --logdir ${folder}`,
  ]);
  await page.click(`${part} button[aria-label="Copy command"]`);
  await page.shown(() => page.host.textContent?.includes('Command copied.'));
  expect(copied).toEqual([`tensorboard --logdir ${folder}`]);
  await page.click(choice);
  await page.shown(() => choice()?.checked === false);
  expect(page.core.tensorBoard.state.on).toBe(false);
  vi.unstubAllGlobals();
});

test('what can not be written is said on every page, and the Export page says where it is', async () => {
  page = await Page.on(undefined, undefined, { reacts: true });
  const { core, world } = page;
  const runId = await core.runs.create({ preset: 'starter-bandit', set: small });
  const folder = join(world.home, 'tensorboard', runId);
  page.open(`#/run/${runId}/export`);
  await page.shown(page.saying('p', 'Live, for every run that trains: switch it on under System.'));
  core.tensorBoard.set(true);
  await page.shown(page.saying('code', folder));
  writeFileSync(folder, 'in the way');
  await core.runs.start(runId);
  await page.shown(page.saying('.note-title', /^TensorBoard files can't be written/));
  page.open('#/system');
  await page.shown(() => page.find(`${part} .note`));
  rmSync(folder);
  core.tensorBoard.set(true);
  await page.shown(() => choice() && !page.find(`${part} .note`));
  expect(existsSync(folder)).toBe(true);
});
