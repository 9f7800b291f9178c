import { contextBridge, ipcRenderer } from 'electron';

// The page gets two functions that carry strings, the same frames as over the WebSocket, and nothing of Electron's.
contextBridge.exposeInMainWorld('starpo', {
  send(message: string): void {
    ipcRenderer.send('starpo', message);
  },

  /** Calls back with every message from core; returns a function that ends it. */
  receive(callback: (message: string) => void): () => void {
    const listener = (_event: unknown, message: string) => callback(message);
    ipcRenderer.on('starpo', listener);
    return () => {
      ipcRenderer.off('starpo', listener);
    };
  },
});
