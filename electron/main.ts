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
import type { RunSummary } from '../core/contract/contract.ts';
import { asFailure } from '../core/contract/failure.ts';
import { Studio } from '../core/host/studio.ts';
import { createWebApp } from '../core/server/web-app.ts';
import { Activity, overall } from './activity.ts';
import { bridgeToCore } from './bridge.ts';
import { bringBundles } from './bring-bundle.ts';
import { decideClosing } from './closing.ts';
import { chooseDataFolder, openDataFolder } from './data-folder.ts';
import { linkScheme, pageOfArguments, pageOfLink, withoutLinks } from './links.ts';
import { installMenu } from './menu.ts';
import { keepNotificationChoice, Notifications } from './notifications.ts';
import { OutsideLinks } from './outside.ts';
import { Preferences } from './preferences.ts';
import { saveExports } from './save-export.ts';
import { systemSecrets } from './secrets.ts';
import { appScheme, guardContents, guardPermissions } from './security.ts';
import { TrayMenu } from './tray.ts';
import { focusWindow, openWindow } from './window.ts';

let studio: Studio | undefined;
let activity: Activity | undefined;
let tray: TrayMenu | undefined;
let window: BrowserWindow | undefined;
let preferences: Preferences;
/** Whether the app is to end once its window has, and whether that was asked for besides. */
let staysInTray = false;
let quitting = false;
/** Whether it is to start anew once it has ended. */
let restarting = false;
let deciding = false;
/** Number of the block that keeps the machine awake; null: it may sleep. */
let awake: number | null = null;

/** Brings the window to the front, at a page where one is named. */
function show(page?: string): void {
  staysInTray = false;
  if (window) {
    focusWindow(window);
    if (page !== undefined) window.webContents.send('starpo-go', page);
    return;
  }
  window = openWindow(page);
  window.on('close', onClose);
  window.once('closed', () => {
    window = undefined;
  });
  follow(activity?.active() ?? []);
}

/** Training isn't left, or ended, by a click that meant the window. */
function onClose(event: { preventDefault(): void }): void {
  const closing = window;
  if (!closing || !activity || activity.active().length === 0) return;
  event.preventDefault();
  if (deciding) {
    // Trainers that were asked to stop do so without us: who closes again doesn't want to wait for it.
    if (activity.stopping) closing.destroy();
    return;
  }
  deciding = true;
  const { active } = activity;
  const parts = {
    active: active.bind(activity),
    stopAll: stopTraining,
    ask: (options: Electron.MessageBoxOptions) => dialog.showMessageBox(closing, options),
    preferences,
    hasTray: tray !== undefined,
  };
  decideClosing(parts, quitting)
    .then((decided) => {
      quitting = false;
      restarting &&= decided === 'quit';
      if (decided === 'stay') return;
      staysInTray = decided === 'background';
      if (!closing.isDestroyed()) closing.destroy();
    })
    .catch((error) => {
      quitting = false;
      restarting = false;
      dialog.showErrorBox(asFailure(error).message, asFailure(error).hint);
    })
    .finally(() => {
      deciding = false;
    });
}

/** What waits isn't started in the place of what ends. */
async function stopTraining(): Promise<void> {
  await studio?.rest();
  try {
    await activity?.stopAll();
  } catch (error) {
    await studio?.work();
    throw error;
  }
}

/** Shows what trains beside the window, and keeps the machine awake for it. */
function follow(active: RunSummary[]): void {
  const all = overall(active);
  window?.setProgressBar(all?.share ?? -1, { mode: all?.paused ? 'paused' : 'normal' });
  tray?.update(active);
  const trains = active.some(({ status }) => status === 'running');
  if (trains && awake === null) awake = powerSaveBlocker.start('prevent-app-suspension');
  if (!trains && awake !== null) {
    powerSaveBlocker.stop(awake);
    awake = null;
  }
}

/** Undefined where the desktop has no tray. */
function openTray(resources: string): TrayMenu | undefined {
  try {
    const image = nativeImage.createFromPath(join(resources, 'icons/32x32.png'));
    return new TrayMenu(new Tray(image), Menu, { show, quit: () => app.quit() });
  } catch {
    return undefined;
  }
}

/** A studio that stays on a data folder. */
async function stayOn(home: string, resources: string): Promise<Studio> {
  const joined = new Studio({
    home,
    resources,
    endpoint: { port: 0 },
    worksQueue: true,
    inBackground: true,
    secrets: systemSecrets(safeStorage, join(home, 'hub-token.safe')),
  });
  studio = joined;
  try {
    await joined.stay();
    return joined;
  } catch (error) {
    studio = undefined;
    await joined.close();
    throw error;
  }
}

async function start(): Promise<void> {
  await app.whenReady();
  const resources = app.isPackaged ? process.resourcesPath : join(app.getAppPath(), 'resources');
  preferences = new Preferences(join(app.getPath('userData'), 'preferences.json'));
  const joined = await openDataFolder(preferences, {
    ask: (options) => dialog.showMessageBox(options),
    open: (home) => stayOn(home, resources),
  });
  if (!joined) return app.quit();
  const pages = createWebApp(join(app.getAppPath(), 'out/renderer'));
  protocol.handle(appScheme, (request) => pages.fetch(request));
  guardPermissions(session.defaultSession);
  bridgeToCore(ipcMain, (channel) => joined.serve(channel));
  saveExports(ipcMain, dialog, joined.home);
  bringBundles(ipcMain, dialog, joined.home);
  keepNotificationChoice(ipcMain, preferences);
  chooseDataFolder(ipcMain, dialog, {
    home: joined.home,
    preferences,
    restart: () => {
      restarting = true;
      app.quit();
    },
  });
  const notifications = new Notifications(Notification, preferences, {
    inFront: () => window?.isFocused() ?? false,
    show,
  });
  installMenu({
    development: !app.isPackaged,
    macOS: process.platform === 'darwin',
    perform: (command) => window?.webContents.send('starpo-command', command),
    show,
    askAgain: () => {
      preferences.closing = null;
    },
  });
  tray = openTray(resources);
  activity = new Activity(
    () => joined.open(),
    follow,
    (text) => notifications.notify(text),
  );
  activity.follow();
  // Links open the app that is there; a packaged one is what the system starts for them.
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

// One app is enough: a second start brings the first to the front.
if (app.requestSingleInstanceLock()) {
  app.enableSandbox();
  protocol.registerSchemesAsPrivileged([
    { scheme: appScheme, privileges: { standard: true, secure: true, supportFetchAPI: true } },
  ]);
  const links = new OutsideLinks({
    ask: (options) => (window ? dialog.showMessageBox(window, options) : dialog.showMessageBox(options)),
    open: (address) => void shell.openExternal(address),
  });
  guardContents(app, (address) => void links.open(address));
  app.on('before-quit', () => {
    quitting = true;
  });
  app.on('window-all-closed', () => {
    if (!staysInTray) app.quit();
  });
  app.on('will-quit', (event) => {
    if (!studio) return;
    event.preventDefault();
    const closing = studio;
    studio = undefined;
    activity?.close();
    void closing.close().finally(() => {
      if (restarting) app.relaunch({ args: withoutLinks(process.argv.slice(1)) });
      app.quit();
    });
  });
  start().catch(giveUp);
} else {
  app.quit();
}
