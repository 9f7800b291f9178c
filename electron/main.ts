import { join } from 'node:path';
import {
  app,
  type BrowserWindow,
  dialog,
  ipcMain,
  Notification,
  protocol,
  safeStorage,
  session,
  shell,
} from 'electron';
import { asFailure } from '../core/contract/failure.ts';
import { dataFolder } from '../core/home.ts';
import { Studio } from '../core/host/studio.ts';
import { createWebApp } from '../core/server/web-app.ts';
import { bridgeToCore } from './bridge.ts';
import { installMenu } from './menu.ts';
import { showNotifications } from './notifications.ts';
import { systemSecrets } from './secrets.ts';
import { appScheme, guardContents, guardPermissions } from './security.ts';
import { focusWindow, openWindow } from './window.ts';

let studio: Studio | undefined;
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
  const home = dataFolder();
  const joined = new Studio({
    home,
    resources,
    endpoint: { port: 0 },
    worksQueue: true,
    inBackground: true,
    secrets: systemSecrets(safeStorage, join(home, 'hub-token.safe')),
  });
  studio = joined;
  await joined.stay();
  const pages = createWebApp(join(app.getAppPath(), 'out/renderer'));
  protocol.handle(appScheme, (request) => pages.fetch(request));
  guardPermissions(session.defaultSession);
  bridgeToCore(ipcMain, (channel) => joined.serve(channel));
  showNotifications(ipcMain, Notification, { inFront: () => window?.isFocused() ?? false, show });
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

// One app is enough: a second start brings the first to the front.
if (app.requestSingleInstanceLock()) {
  app.enableSandbox();
  protocol.registerSchemesAsPrivileged([
    { scheme: appScheme, privileges: { standard: true, secure: true, supportFetchAPI: true } },
  ]);
  guardContents(app, (address) => void shell.openExternal(address));
  app.on('window-all-closed', () => app.quit());
  app.on('will-quit', (event) => {
    if (!studio) return;
    event.preventDefault();
    const closing = studio;
    studio = undefined;
    void closing.close().finally(() => app.quit());
  });
  start().catch(giveUp);
} else {
  app.quit();
}
