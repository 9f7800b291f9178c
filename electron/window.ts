import { join } from 'node:path';
import { BrowserWindow, nativeTheme } from 'electron';
import { appOrigin } from './security.ts';

/** Opens the one window, at a page where one is named (`#/run/...`). It shows itself when its first picture is ready, so that nothing flashes. */
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

/** Brings the window to the front, as a second start of the app asks for. */
export function focusWindow(window: BrowserWindow): void {
  if (window.isMinimized()) window.restore();
  window.show();
  window.focus();
}
