/** The part of the `electron` module that the app uses. */
export { app } from './app.ts';
export { BrowserWindow, ipcMain } from './browser-window.ts';
export { dialog, Notification, nativeImage, powerSaveBlocker, Tray } from './desk.ts';
export { protocol } from './protocol.ts';

export const Menu = { buildFromTemplate: (template: unknown) => template, setApplicationMenu() {} };

/** This desktop has no key store. */
export const safeStorage = { isEncryptionAvailable: () => false };

export const nativeTheme = { shouldUseDarkColors: false };

export const shell = {
  openExternal: async (address: string) => console.log(`opened outside: ${address}`),
};

export const session = {
  defaultSession: { setPermissionRequestHandler() {}, setPermissionCheckHandler() {} },
};
