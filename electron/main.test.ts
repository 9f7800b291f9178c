import type { EventEmitter } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ipcMain } from 'electron';
import { afterAll, beforeAll, expect, type Mock, test, vi } from 'vitest';

const electron = vi.hoisted(() => ({
  app: undefined as unknown,
  windows: [] as { options: Record<string, unknown>; address: string }[],
  schemes: [] as unknown[],
  handlers: new Map<string, (request: Request) => Response | Promise<Response>>(),
  errors: [] as string[][],
  sent: [] as string[][],
}));

vi.mock('electron', async () => {
  const { EventEmitter } = await import('node:events');
  class BrowserWindow extends EventEmitter {
    readonly record: { options: Record<string, unknown>; address: string };
    constructor(options: Record<string, unknown>) {
      super();
      this.record = { options, address: '' };
      electron.windows.push(this.record);
    }
    async loadURL(address: string) {
      this.record.address = address;
      electron.handlers.get('window')?.(new Request('http://test/'));
    }
    show() {}
    focus() {}
    isMinimized() {
      return false;
    }
    setProgressBar() {}
    readonly webContents = { send: (...sent: string[]) => electron.sent.push(sent) };
  }
  const app = Object.assign(new EventEmitter(), {
    isPackaged: false,
    requestSingleInstanceLock: () => true,
    enableSandbox: vi.fn(),
    whenReady: async () => {},
    getAppPath: () => process.env.STARPO_TEST_APP,
    getPath: () => process.env.STARPO_TEST_APP,
    quit: vi.fn(),
    exit: vi.fn(),
    relaunch: vi.fn(),
  });
  electron.app = app;
  return {
    app,
    BrowserWindow,
    dialog: { showErrorBox: (...text: string[]) => electron.errors.push(text) },
    ipcMain: Object.assign(new EventEmitter(), { handle: vi.fn() }),
    nativeImage: { createFromPath: vi.fn() },
    powerSaveBlocker: { start: vi.fn(), stop: vi.fn() },
    Tray: class extends EventEmitter {
      setToolTip() {}
      setContextMenu() {}
    },
    Menu: { setApplicationMenu: vi.fn(), buildFromTemplate: vi.fn() },
    nativeTheme: { shouldUseDarkColors: false },
    Notification: class {},
    protocol: {
      registerSchemesAsPrivileged: (schemes: unknown[]) => electron.schemes.push(...schemes),
      handle: (scheme: string, handler: (request: Request) => Response) => electron.handlers.set(scheme, handler),
    },
    safeStorage: { isEncryptionAvailable: () => false },
    session: {
      defaultSession: { setPermissionRequestHandler: vi.fn(), setPermissionCheckHandler: vi.fn() },
    },
    shell: { openExternal: vi.fn() },
  };
});

const folder = mkdtempSync(join(tmpdir(), 'starpo-shell-'));

beforeAll(async () => {
  mkdirSync(join(folder, 'out/renderer'), { recursive: true });
  writeFileSync(join(folder, 'out/renderer/index.html'), '<title>page</title>');
  vi.stubEnv('STARPO_TEST_APP', folder);
  vi.stubEnv('STARPO_HOME', join(folder, 'home'));
  const opened = new Promise<void>((resolve) => {
    electron.handlers.set('window', () => {
      resolve();
      return new Response();
    });
  });
  await import('./main.ts');
  await opened;
});

let ended: Promise<void> | undefined;
/** Quits like Electron after the windows have closed; resolves when everything is closed. */
function end(): Promise<void> {
  const app = electron.app as EventEmitter & { quit: Mock };
  ended ??= new Promise((resolve) => {
    app.quit.mockImplementation(resolve);
    app.emit('will-quit', { preventDefault: () => {} });
  });
  return ended;
}

afterAll(async () => {
  await end();
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});

test("the window is sandboxed and isolated, without Node, on the app's scheme", () => {
  expect(electron.errors).toEqual([]);
  expect(electron.windows).toHaveLength(1);
  expect(electron.windows[0]?.address).toBe('app://studio/');
  expect(electron.windows[0]?.options.webPreferences).toMatchObject({
    sandbox: true,
    contextIsolation: true,
    nodeIntegration: false,
    webviewTag: false,
  });
});

test('the scheme serves the built page with a content security policy and nothing outside its folder', async () => {
  expect(electron.schemes).toEqual([
    { scheme: 'app', privileges: { standard: true, secure: true, supportFetchAPI: true } },
  ]);
  const get = (address: string) => electron.handlers.get('app')?.(new Request(address)) as Promise<Response>;
  const page = await get('app://studio/');
  expect(await page.text()).toBe('<title>page</title>');
  expect(page.headers.get('content-security-policy')).toContain("script-src 'self'");
  expect((await get('app://studio/..%2f..%2fhome%2fhost.json')).status).toBe(404);
});

test('a second instance opens its link in the existing window', () => {
  (electron.app as EventEmitter).emit('second-instance', {}, ['starpo-studio', '--flag', 'starpo://run/a-run']);
  expect(electron.windows).toHaveLength(1);
  expect(electron.sent).toEqual([['starpo-go', '#/run/a-run']]);
});

test('a restart from the page quits, then relaunches without earlier links', async () => {
  const app = electron.app as { quit: Mock; relaunch: Mock };
  const { argv } = process;
  process.argv = ['electron', 'app', '--home=here', 'starpo://run/a-run'];
  ipcMain.emit('starpo-restart', { senderFrame: { url: 'app://studio/', parent: null } } as never);
  expect(app.quit).toHaveBeenCalledTimes(1);
  expect(app.relaunch).not.toHaveBeenCalled();
  await end();
  process.argv = argv;
  expect(app.relaunch.mock.calls).toEqual([[{ args: ['app', '--home=here'] }]]);
});
