import { join } from 'node:path';
import { app, type BrowserWindow, dialog, ipcMain, protocol, session, shell } from 'electron';
import { asFailure } from '../core/api/failure.ts';
import { serveChannel } from '../core/api/server.ts';
import { dataFolder } from '../core/home.ts';
import { createWebApp } from '../core/host/web-app.ts';
import { type Core, createCore } from '../core/index.ts';
import { bridgeToCore } from './bridge.ts';
import { installMenu } from './menu.ts';
import { appScheme, guardContents, guardPermissions } from './security.ts';
import { focusWindow, openWindow } from './window.ts';

let core: Core | undefined;
let window: BrowserWindow | undefined;

function show(): void {
  if (window) {
    focusWindow(window);
    return;
  }
  window = openWindow();
  window.once('closed', () => {
    window = undefined;
  });
}

async function start(): Promise<void> {
  await app.whenReady();
  const resources = app.isPackaged ? process.resourcesPath : join(app.getAppPath(), 'resources');
  const running = await createCore({ home: dataFolder(), resources, worksQueue: true });
  core = running;
  const pages = createWebApp(join(app.getAppPath(), 'out/renderer'));
  protocol.handle(appScheme, (request) => pages.fetch(request));
  guardPermissions(session.defaultSession);
  bridgeToCore(ipcMain, (channel) => serveChannel(running, channel));
  installMenu({ development: !app.isPackaged, macOS: process.platform === 'darwin' });
  app.on('second-instance', show);
  app.on('activate', show);
  show();
}

function giveUp(error: unknown): void {
  const { message, hint } = asFailure(error);
  dialog.showErrorBox(message, hint);
  app.exit(1);
}

// Two apps on one data folder would both write its database: a second start brings the first to the front.
if (app.requestSingleInstanceLock()) {
  app.enableSandbox();
  protocol.registerSchemesAsPrivileged([
    { scheme: appScheme, privileges: { standard: true, secure: true, supportFetchAPI: true } },
  ]);
  guardContents(app, (address) => void shell.openExternal(address));
  app.on('window-all-closed', () => app.quit());
  app.on('will-quit', (event) => {
    if (!core) return;
    event.preventDefault();
    const closing = core;
    core = undefined;
    void closing.dispose().finally(() => app.quit());
  });
  start().catch(giveUp);
} else {
  app.quit();
}
