import { contextBridge, ipcRenderer } from 'electron';

/** Listens on an IPC channel; returns a function that stops listening. */
function listen(name: string, callback: (message: string) => void): () => void {
  const listener = (_event: unknown, message: string) => callback(message);
  ipcRenderer.on(name, listener);
  return () => {
    ipcRenderer.off(name, listener);
  };
}

// The page gets functions that pass strings, and no Electron objects. API messages have the same format as over the WebSocket.
contextBridge.exposeInMainWorld('starpo', {
  send: (message: string) => ipcRenderer.send('starpo', message),
  receive: (callback: (message: string) => void) => listen('starpo', callback),
  onClose: (callback: () => void) => listen('starpo-closed', () => callback()),
  chooseNotifications: (choice: string) => ipcRenderer.send('starpo-notifications', choice),
  onCommand: (callback: (command: string) => void) => listen('starpo-command', callback),
  onOpenPage: (callback: (page: string) => void) => listen('starpo-go', callback),
  save: (exportId: string) => ipcRenderer.invoke('starpo-save', exportId),
  upload: (file: string, offset: number, part: Uint8Array) => ipcRenderer.invoke('starpo-upload', file, offset, part),
  dataFolder: (request: string) => ipcRenderer.invoke('starpo-data-folder', request),
  restart: () => ipcRenderer.send('starpo-restart'),
});
