import { join } from 'node:path';
import {
  app,
  type BrowserWindow,
  dialog,
  ipcMain,
  Menu,
  Notification,
  nativeImage,
  powerSaveBlocker,
  protocol,
  safeStorage,
  session,
  shell,
  Tray,
} from 'electron';
import { linkScheme } from '../core/contract/bridge.ts';
import type { RunSummary } from '../core/contract/contract.ts';
import { asFailure } from '../core/contract/failure.ts';
import { Studio } from '../core/host/studio.ts';
import { createWebApp } from '../core/server/web-app.ts';
import { Activity, overall } from './activity.ts';
import { bridgeToCore } from './bridge.ts';
import { decideClosing } from './closing.ts';
import { chooseDataFolder, openDataFolder } from './data-folder.ts';
import { pageOfArguments, pageOfLink, withoutLinks } from './links.ts';
import { installMenu } from './menu.ts';
import { keepNotificationChoice, notifier } from './notifications.ts';
import { outsideLinks } from './outside.ts';
import { Preferences } from './preferences.ts';
import { saveExports } from './save-export.ts';
import { systemSecrets } from './secrets.ts';
import { appScheme, guardContents, guardPermissions } from './security.ts';
import { TrayMenu } from './tray.ts';
import { receiveUploads } from './uploads.ts';
import { focusWindow, openWindow } from './window.ts';

interface State {
  studio?: Studio | undefined;
  activity?: Activity;
  tray?: TrayMenu | undefined;
  window?: BrowserWindow | undefined;
  preferences?: Preferences;
  /** Whether the app stays in the tray after the window has closed. */
  staysInTray: boolean;
  quitting: boolean;
  /** Whether to relaunch after quitting. */
  restarting: boolean;
  /** Whether the close dialog is open. */
  deciding: boolean;
  /** Id of the power save blocker; null while the machine may sleep. */
  powerBlocker: number | null;
}

const state: State = {
  staysInTray: false,
  quitting: false,
  restarting: false,
  deciding: false,
  powerBlocker: null,
};

/** Opens or focuses the window, optionally at a page. */
function show(page?: string): void {
  state.staysInTray = false;
  if (state.window) {
    focusWindow(state.window);
    if (page !== undefined) state.window.webContents.send('starpo-go', page);
    return;
  }
  state.window = openWindow(page);
  state.window.on('close', onClose);
  state.window.once('closed', () => {
    state.window = undefined;
    showProgress(state.activity?.active() ?? []);
  });
  showProgress(state.activity?.active() ?? []);
}

/** Asks what to do about active runs before the window closes. */
function onClose(event: { preventDefault(): void }): void {
  const { window: closing, activity, preferences, tray } = state;
  if (!closing || !activity || !preferences || activity.active().length === 0) return;
  event.preventDefault();
  if (state.deciding) {
    // Trainers stop without the app, so closing again doesn't wait for them.
    if (activity.stopping) closing.destroy();
    return;
  }
  state.deciding = true;
  const { active } = activity;
  const parts = {
    active: active.bind(activity),
    stopAll: stopTraining,
    ask: (options: Electron.MessageBoxOptions) => dialog.showMessageBox(closing, options),
    preferences,
    hasTray: tray !== undefined,
  };
  decideClosing(parts, state.quitting)
    .then((decided) => {
      state.quitting = false;
      state.restarting &&= decided === 'quit';
      if (decided === 'stay') return;
      state.staysInTray = decided === 'background';
      if (!closing.isDestroyed()) closing.destroy();
    })
    .catch((error) => {
      state.quitting = false;
      state.restarting = false;
      dialog.showErrorBox(asFailure(error).message, asFailure(error).hint);
    })
    .finally(() => {
      state.deciding = false;
    });
}

/** Stops all runs. Pauses the queue first, so that queued runs don't start in their place. */
async function stopTraining(): Promise<void> {
  await state.studio?.rest();
  try {
    await state.activity?.stopAll();
  } catch (error) {
    await state.studio?.work();
    throw error;
  }
}

/** Shows active runs in the taskbar and tray, and keeps the machine awake during training. */
function showProgress(active: RunSummary[]): void {
  const all = overall(active);
  state.window?.setProgressBar(all?.share ?? -1, { mode: all?.paused ? 'paused' : 'normal' });
  state.tray?.update(active, state.window !== undefined);
  const trains = active.some(({ status }) => status === 'running');
  if (trains && state.powerBlocker === null) state.powerBlocker = powerSaveBlocker.start('prevent-app-suspension');
  if (!trains && state.powerBlocker !== null) {
    powerSaveBlocker.stop(state.powerBlocker);
    state.powerBlocker = null;
  }
}

/** Returns undefined if the desktop has no tray. */
function openTray(resources: string): TrayMenu | undefined {
  try {
    const image = nativeImage.createFromPath(join(resources, 'icons/32x32.png'));
    return new TrayMenu(new Tray(image), Menu, { show, quit: () => app.quit() });
  } catch {
    return undefined;
  }
}

/** Opens a data folder as its host or client. */
async function openStudio(home: string, resources: string): Promise<Studio> {
  const joined = new Studio({
    home,
    resources,
    endpoint: { port: 0 },
    worksQueue: true,
    inBackground: true,
    secrets: systemSecrets(safeStorage, join(home, 'hub-token.safe')),
  });
  state.studio = joined;
  void joined.ended.then(({ message, hint }) => {
    dialog.showErrorBox(message, hint);
    app.quit();
  });
  try {
    await joined.stay();
    return joined;
  } catch (error) {
    state.studio = undefined;
    await joined.close();
    throw error;
  }
}

async function start(): Promise<void> {
  await app.whenReady();
  const resources = app.isPackaged ? process.resourcesPath : join(app.getAppPath(), 'resources');
  process.env.STARPO_RESOURCES = resources;
  const preferences = new Preferences(join(app.getPath('userData'), 'preferences.json'));
  state.preferences = preferences;
  const joined = await openDataFolder(preferences, {
    ask: (options) => dialog.showMessageBox(options),
    open: (home) => openStudio(home, resources),
  });
  if (!joined) return app.quit();
  const pages = createWebApp(join(app.getAppPath(), 'out/renderer'));
  protocol.handle(appScheme, (request) => pages.fetch(request));
  guardPermissions(session.defaultSession);
  bridgeToCore(ipcMain, (channel) => joined.serve(channel));
  saveExports(ipcMain, dialog, joined.home);
  receiveUploads(ipcMain, joined.home);
  keepNotificationChoice(ipcMain, preferences);
  chooseDataFolder(ipcMain, dialog, {
    home: joined.home,
    preferences,
    restart: () => {
      state.restarting = true;
      app.quit();
    },
  });
  const notify = notifier(Notification, preferences, {
    inFront: () => state.window?.isFocused() ?? false,
    show,
  });
  installMenu({
    development: !app.isPackaged,
    macOS: process.platform === 'darwin',
    perform: (command) => state.window?.webContents.send('starpo-command', command),
    show,
    askAgain: () => {
      preferences.closing = null;
    },
  });
  state.tray = openTray(resources);
  state.activity = new Activity(() => joined.open(), showProgress, notify);
  state.activity.follow();
  // Only a packaged app can be registered as the handler of links.
  if (app.isPackaged) app.setAsDefaultProtocolClient(linkScheme);
  app.on('second-instance', (_event, args) => show(pageOfArguments(args) ?? undefined));
  app.on('open-url', (event, link) => {
    event.preventDefault();
    show(pageOfLink(link) ?? undefined);
  });
  app.on('activate', () => show());
  show(pageOfArguments(process.argv) ?? undefined);
}

function giveUp(error: unknown): void {
  const { message, hint } = asFailure(error);
  dialog.showErrorBox(message, hint);
  app.exit(1);
}

// A second start focuses the first app.
if (app.requestSingleInstanceLock()) {
  app.enableSandbox();
  protocol.registerSchemesAsPrivileged([
    { scheme: appScheme, privileges: { standard: true, secure: true, supportFetchAPI: true } },
  ]);
  const openOutside = outsideLinks({
    ask: (options) => (state.window ? dialog.showMessageBox(state.window, options) : dialog.showMessageBox(options)),
    open: (address) => void shell.openExternal(address),
  });
  guardContents(app, (address) => void openOutside(address));
  app.on('before-quit', () => {
    state.quitting = true;
  });
  app.on('window-all-closed', () => {
    if (!state.staysInTray) app.quit();
  });
  app.on('will-quit', (event) => {
    if (!state.studio) return;
    event.preventDefault();
    const closing = state.studio;
    state.studio = undefined;
    state.activity?.close();
    void closing.close().finally(() => {
      if (state.restarting) app.relaunch({ args: withoutLinks(process.argv.slice(1)) });
      app.quit();
    });
  });
  start().catch(giveUp);
} else {
  app.quit();
}
