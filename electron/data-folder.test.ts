import { EventEmitter } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Dialog, IpcMain, MessageBoxOptions } from 'electron';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { FolderChoice } from '../core/contract/bridge.ts';
import { isDataFolder, lockFolder } from '../core/history/database.ts';
import { chooseDataFolder, openDataFolder } from './data-folder.ts';
import { Preferences } from './preferences.ts';

const own = { url: 'app://studio/', parent: null };
let folder: string;
let usual: string;
let disk: string;
let preferences: Preferences;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'starpo-folder-')));
  vi.stubEnv('STARPO_HOME', '');
  vi.stubEnv('XDG_DATA_HOME', join(folder, 'share'));
  usual = join(folder, 'share/starpo-studio');
  disk = join(folder, 'disk');
  mkdirSync(disk);
  preferences = new Preferences(join(folder, 'preferences.json'));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
  vi.unstubAllEnvs();
});

/** Creates a data folder as after a start of the app. */
const use = (home: string) => lockFolder(home).release();

describe('on the System page', () => {
  const showOpenDialog = vi.fn();
  const restart = vi.fn();
  let ipc: EventEmitter;
  let ask: (request: unknown, senderFrame?: object | null) => Promise<FolderChoice>;
  const pick = (path: string) => {
    showOpenDialog.mockResolvedValueOnce({ canceled: false, filePaths: [path] });
    return ask('choose');
  };
  beforeEach(() => {
    vi.clearAllMocks();
    use(usual);
    const handle = vi.fn();
    ipc = Object.assign(new EventEmitter(), { handle });
    const dialog = { showOpenDialog } as unknown as Dialog;
    chooseDataFolder(ipc as unknown as IpcMain, dialog, { home: usual, preferences, restart });
    ask = (request, senderFrame = own) => handle.mock.calls[0]![1]({ senderFrame }, request);
  });

  test('an empty folder becomes the data folder of the next start, until reset', async () => {
    expect(await ask('get')).toEqual({ by: 'default', next: null, problem: null });
    expect(await pick(disk)).toEqual({ by: 'user', next: disk, problem: null });
    expect(new Preferences(join(folder, 'preferences.json')).dataFolder).toBe(disk);
    expect(isDataFolder(disk)).toBe(true);
    expect(await ask('default')).toEqual({ by: 'default', next: null, problem: null });
    expect(preferences.dataFolder).toBeNull();
  });

  test('a folder with other files gets a subfolder; a data folder is used directly, even while in use', async () => {
    writeFileSync(join(disk, 'holiday.jpg'), '');
    const within = join(disk, 'starpo-studio');
    expect(await pick(disk)).toMatchObject({ next: within, problem: null });
    const held = lockFolder(within);
    expect(await pick(within)).toMatchObject({ next: within, problem: null });
    held.release();
    expect(await pick(disk)).toMatchObject({ next: within });
  });

  test('choosing the default folder resets the choice; a canceled dialog keeps the choice', async () => {
    await pick(disk);
    showOpenDialog.mockResolvedValueOnce({ canceled: true, filePaths: [] });
    expect(await ask('choose')).toMatchObject({ by: 'user', next: disk });
    symlinkSync(usual, join(folder, 'link'));
    expect(await pick(join(folder, 'link'))).toEqual({ by: 'default', next: null, problem: null });
  });

  test.each([
    ['has other files', 'other files', () => disk],
    ['is inside the data folder', 'inside the current data folder', () => join(usual, 'runs')],
    ["can't be written", "can't be used", () => '/proc/self/fd'],
  ])('a folder that %s is rejected and the choice is kept', async (_what, text, place) => {
    preferences.dataFolder = usual;
    mkdirSync(join(disk, 'starpo-studio'));
    writeFileSync(join(disk, 'starpo-studio/thesis.tex'), '');
    expect(await pick(place())).toMatchObject({
      next: null,
      problem: { code: 'data_folder_unusable', message: expect.stringContaining(text) },
    });
    expect(preferences.dataFolder).toBe(usual);
    expect(existsSync(join(disk, 'starpo-studio/runs'))).toBe(false);
  });

  test('STARPO_HOME disables the choice', async () => {
    vi.stubEnv('STARPO_HOME', usual);
    for (const request of ['get', 'choose', 'default'])
      expect(await ask(request)).toEqual({ by: 'start', next: null, problem: null });
    expect(showOpenDialog).not.toHaveBeenCalled();
  });

  test.each([
    ['a foreign page', 'choose', { url: 'https://example.org/', parent: null }],
    ['a frame within the page', 'choose', { ...own, parent: own }],
    ['a path', '/etc', own],
    ['an object', { wish: 'choose' }, own],
  ])("%s can't choose a folder or restart", async (_what, request, frame) => {
    await expect(ask(request, frame)).rejects.toThrow('Request rejected');
    expect(showOpenDialog).not.toHaveBeenCalled();
    ipc.emit('starpo-restart', { senderFrame: { url: 'https://example.org/', parent: null } });
    expect(restart).not.toHaveBeenCalled();
    ipc.emit('starpo-restart', { senderFrame: own });
    expect(restart).toHaveBeenCalledTimes(1);
  });
});

describe('at the start', () => {
  const open = vi.fn(async (home: string) => home);
  const asked: MessageBoxOptions[] = [];
  /** Opens the folder and answers dialogs with these buttons; `between` runs before the second answer. */
  const start = (...presses: { button: number; after?: () => void }[]) =>
    openDataFolder(preferences, {
      ask: async (options) => {
        asked.push(options);
        const { button, after } = presses.shift()!;
        after?.();
        return { response: button };
      },
      open,
    });
  const [again, usualOnce, quit] = [0, 1, 2];
  beforeEach(() => {
    asked.length = 0;
    open.mockClear();
  });

  test('the folder set at startup takes precedence over the chosen folder, which takes precedence over the default', async () => {
    expect(await start()).toBe(usual);
    use(disk);
    preferences.dataFolder = disk;
    expect(await start()).toBe(disk);
    vi.stubEnv('STARPO_HOME', join(folder, 'named'));
    expect(await start()).toBe(join(folder, 'named'));
    const { argv } = process;
    process.argv = [...argv, '--enable-logging', `--home=${join(folder, 'argument')}`];
    try {
      expect(await start()).toBe(join(folder, 'argument'));
    } finally {
      process.argv = argv;
    }
  });

  test('asks about a missing folder, retries, and never creates it', async () => {
    // An empty mount point remains.
    preferences.dataFolder = disk;
    expect(await start({ button: again }, { button: again, after: () => use(disk) })).toBe(disk);
    expect(open.mock.calls).toEqual([[disk]]);
    expect(asked).toHaveLength(2);
    expect(asked[0]).toMatchObject({
      message: `${disk} was not found or is not a data folder of StarPO Studio.`,
      detail: expect.stringContaining(usual),
      buttons: ['Try again', 'Use the default folder this time', 'Quit'],
      cancelId: quit,
    });
  });

  test('using the default folder once keeps the choice, and quitting opens nothing', async () => {
    preferences.dataFolder = join(folder, 'nowhere');
    expect(await start({ button: usualOnce })).toBe(usual);
    expect(preferences.dataFolder).toBe(join(folder, 'nowhere'));
    open.mockClear();
    expect(await start({ button: quit })).toBeNull();
    expect(open).not.toHaveBeenCalled();
    expect(existsSync(join(folder, 'nowhere'))).toBe(false);
  });

  test('asks about a chosen folder that fails to open; the default folder fails directly', async () => {
    use(disk);
    preferences.dataFolder = disk;
    open.mockRejectedValue(new Error('The disk is not responding.'));
    await expect(start({ button: usualOnce })).rejects.toThrow('The disk is not responding.');
    expect(asked[0]!.message).toContain('The disk is not responding.');
    expect(open.mock.calls).toEqual([[disk], [usual]]);
    open.mockReset();
  });
});
