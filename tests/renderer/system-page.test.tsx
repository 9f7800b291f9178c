import { afterEach, expect, test, vi } from 'vitest';
import type { FolderChoice, FolderWish } from '../../core/contract/bridge.ts';
import { Page } from './page.tsx';

vi.mock('uplot', () => import('./uplot.ts'));

let page: Page;
afterEach(async () => {
  await page.close();
  vi.unstubAllGlobals();
});

const section = '[aria-label="Data folder"]';
const button = (text: string | RegExp) => page.saying(`${section} button`, text);

/** As Electron's preload: the shell answers a wish by what the test has it answer. */
async function openInDesktop(first: FolderChoice) {
  const dataFolder = vi.fn<(wish: FolderWish) => Promise<FolderChoice>>().mockResolvedValueOnce(first);
  const restart = vi.fn();
  const silent = () => () => {};
  vi.stubGlobal('starpo', {
    ...{ chooseNotifications: () => {}, onCommand: silent, onGo: silent },
    dataFolder,
    restart,
  });
  page = await Page.on();
  page.open('#/system');
  await page.shown(page.saying(`${section} code`, page.world.home));
  return { dataFolder, restart };
}

test('another data folder is chosen, counts after a restart, and is left again', async () => {
  const { dataFolder, restart } = await openInDesktop({ by: 'nobody', next: null, problem: null });
  const problem = {
    code: 'data_folder_unusable',
    message: 'The folder /cd is read-only.',
    hint: 'Take another.',
  };
  dataFolder.mockResolvedValueOnce({ by: 'nobody', next: null, problem });
  await page.click(button('Choose another folder…'));
  await page.shown(page.saying(`${section} [role="alert"]`, 'The folder /cd is read-only.'));
  expect(button('Use the usual folder')()).toBeUndefined();

  dataFolder.mockResolvedValueOnce({ by: 'person', next: '/disk/starpo-studio', problem: null });
  await page.click(button('Choose another folder…'));
  await page.shown(page.saying(`${section} [role="status"] code`, '/disk/starpo-studio'));
  expect(page.find(`${section} [role="alert"]`)).toBeNull();
  await page.click(button('Restart now'));
  expect(restart).toHaveBeenCalledTimes(1);

  dataFolder.mockResolvedValueOnce({ by: 'nobody', next: null, problem: null });
  await page.click(button('Use the usual folder'));
  await page.shown(() => !button('Restart now')());
  expect(dataFolder.mock.calls.flat()).toEqual(['look', 'choose', 'choose', 'usual']);
});

test('where STARPO_HOME names the data folder the page says so and offers nothing', async () => {
  await openInDesktop({ by: 'environment', next: null, problem: null });
  await page.shown(page.saying(`${section} p`, 'STARPO_HOME names it'));
  expect(page.all(`${section} button`)).toEqual([]);
});

test('in a browser the page says how the folder is named', async () => {
  page = await Page.on();
  page.open('#/system');
  await page.shown(page.saying(`${section} code`, page.world.home));
  await page.shown(page.saying(`${section} code`, '--home FOLDER'));
  expect(page.all(`${section} button`)).toEqual([]);
});
