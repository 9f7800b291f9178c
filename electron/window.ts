import { join } from 'node:path';
import { BrowserWindow, nativeTheme } from 'electron';
import { appOrigin } from './security.ts';

/** Opens the window, optionally at a page (`#/run/...`). Shows it once the first frame is ready, to avoid a flash. */
export function openWindow(page = ''): BrowserWindow {
  const window = new BrowserWindow({
    title: 'StarPO Studio',
    width: 1360,
    height: 880,
    minWidth: 720,
    minHeight: 520,
    show: false,
    backgroundColor: nativeTheme.shouldUseDarkColors ? '#14161a' : '#ffffff',
    webPreferences: {
      preload: join(import.meta.dirname, '../preload/preload.cjs'),
      sandbox: true,
      contextIsolation: true,
      nodeIntegration: false,
      webviewTag: false,
      spellcheck: false,
    },
  });
  window.once('ready-to-show', () => window.show());
  void window.loadURL(`${appOrigin}/${page}`);
  return window;
}

/** Focuses the window, for example when the app is started again. */
export function focusWindow(window: BrowserWindow): void {
  if (window.isMinimized()) window.restore();
  window.show();
  window.focus();
}
