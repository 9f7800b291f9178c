import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import type { FolderChoice, FolderRequest } from '../../core/contract/bridge.ts';
import { useNotifications } from '../../renderer/notifications/notifications.ts';
import { Page, small } from './page.tsx';

let page: Page;
afterEach(async () => {
  await page.close();
  vi.unstubAllGlobals();
});

const section = '[aria-label="Data folder"]';
const button = (text: string | RegExp) => page.withText(`${section} button`, text);

/** Like Electron's preload, with answers set by the test. */
async function openInDesktop(first: FolderChoice) {
  const dataFolder = vi.fn<(wish: FolderRequest) => Promise<FolderChoice>>().mockResolvedValueOnce(first);
  const restart = vi.fn();
  const silent = () => () => {};
  vi.stubGlobal('starpo', {
    ...{ chooseNotifications: () => {}, onCommand: silent, onOpenPage: silent },
    dataFolder,
    restart,
  });
  page = await Page.start();
  page.open('#/settings');
  await page.shown(page.withText(`${section} code`, page.world.home));
  return { dataFolder, restart };
}

test('another data folder is chosen for the next start, and reset', async () => {
  const { dataFolder, restart } = await openInDesktop({ by: 'default', next: null, problem: null });
  const problem = {
    code: 'data_folder_unusable',
    message: 'The folder /cd is read-only.',
    hint: 'Take another.',
  };
  dataFolder.mockResolvedValueOnce({ by: 'default', next: null, problem });
  await page.click(button('Choose another folder…'));
  await page.shown(page.withText(`${section} [role="alert"]`, 'The folder /cd is read-only.'));
  expect(button('Use the default folder')()).toBeUndefined();

  dataFolder.mockResolvedValueOnce({ by: 'user', next: '/disk/starpo-studio', problem: null });
  await page.click(button('Choose another folder…'));
  await page.shown(page.withText(`${section} [role="status"] code`, '/disk/starpo-studio'));
  expect(page.find(`${section} [role="alert"]`)).toBeNull();
  await page.click(button('Restart now'));
  expect(restart).toHaveBeenCalledTimes(1);

  dataFolder.mockResolvedValueOnce({ by: 'default', next: null, problem: null });
  await page.click(button('Use the default folder'));
  await page.shown(() => !button('Restart now')());
  expect(dataFolder.mock.calls.flat()).toEqual(['get', 'choose', 'choose', 'default']);
});

test("a data folder set at startup can't be changed on the page", async () => {
  await openInDesktop({ by: 'start', next: null, problem: null });
  await page.shown(page.withText(`${section} p`, 'It was set at startup with'));
  expect(page.all(`${section} button`)).toEqual([]);
});

test('in a browser the page explains how to set the folder', async () => {
  page = await Page.start();
  page.open('#/settings');
  await page.shown(page.withText(`${section} code`, page.world.home));
  await page.shown(page.withText(`${section} code`, '--home'));
  expect(page.all(`${section} button`)).toEqual([]);
  // Where notifications are blocked, Settings explains it.
  useNotifications.setState({ permission: 'blocked' });
  await page.shown(page.withText('[aria-label="Notifications"] p', 'Notifications are blocked.'));
  useNotifications.setState({ permission: 'off' });
  await page.shown(page.withText('[aria-label="Notifications"] button', 'Notify me'));
});

const tensorBoard = 'section[aria-label="TensorBoard"]';
const choice = () => page.find<HTMLInputElement>(`${tensorBoard} input[type="checkbox"]`);

test('TensorBoard logging is turned on by keyboard, with a folder and command to copy', async () => {
  const copied: string[] = [];
  vi.stubGlobal('navigator', {
    ...navigator,
    clipboard: { writeText: async (text: string) => void copied.push(text) },
  });
  page = await Page.start(undefined, undefined, { backgroundWork: true });
  const folder = join(page.world.home, 'tensorboard');
  page.open('#/settings');
  const box = await page.shown(choice);
  expect([box.labels![0]!.textContent, box.checked, box.tabIndex]).toEqual([
    'Write TensorBoard files during training',
    false,
    0,
  ]);
  expect(page.find(`${tensorBoard} code`)).toBeNull();
  // Like the space bar on a focused checkbox.
  box.focus();
  expect(document.activeElement).toBe(box);
  box.click();
  await page.shown(() => choice()?.checked);
  expect(page.core.tensorBoard.state.on).toBe(true);
  expect(page.all(`${tensorBoard} code`).map(({ textContent }) => textContent)).toEqual([
    folder,
    `tensorboard --logdir ${folder}`,
  ]);
  await page.click(`${tensorBoard} button[aria-label="Copy command"]`);
  await page.shown(() => page.host.textContent?.includes('Command copied.'));
  expect(copied).toEqual([`tensorboard --logdir ${folder}`]);
  await page.click(choice);
  await page.shown(() => choice()?.checked === false);
  expect(page.core.tensorBoard.state.on).toBe(false);
});

test('a write failure is reported on every page, and the Export page shows the folder', async () => {
  page = await Page.start(undefined, undefined, { backgroundWork: true });
  const { core, world } = page;
  const runId = await core.runs.create({ preset: 'starter-bandit', set: small });
  const folder = join(world.home, 'tensorboard', runId);
  page.open(`#/run/${runId}/export`);
  await page.shown(page.withText('p', 'Turn on live logging in Settings.'));
  core.tensorBoard.set(true);
  await page.shown(page.withText('code', folder));
  writeFileSync(folder, 'in the way');
  await core.runs.start(runId);
  await page.shown(page.withText('.note-title', /^TensorBoard files can't be written/));
  page.open('#/settings');
  await page.shown(() => page.find(`${tensorBoard} .note`));
  rmSync(folder);
  core.tensorBoard.set(true);
  await page.shown(() => choice() && !page.find(`${tensorBoard} .note`));
  expect(existsSync(folder)).toBe(true);
});
