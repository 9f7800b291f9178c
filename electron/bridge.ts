import type { IpcMain, WebContents } from 'electron';
import type { ClosableChannel } from '../core/contract/channel.ts';
import { isOwnFrame } from './security.ts';

interface Connection {
  deliver(text: string): void;
}

/** Carries the API over Electron's IPC. Each page gets its own channel, which closes when the page navigates, reloads,
 * crashes or closes. Messages from other pages are dropped. When the server closes a channel the page is notified, and its
 * next message opens a new one.
 */
export function bridgeToCore(ipc: IpcMain, serve: (channel: ClosableChannel) => void): void {
  const connections = new Map<number, Connection>();
  ipc.on('starpo', (event, text: unknown) => {
    if (!isOwnFrame(event.senderFrame) || typeof text !== 'string') return;
    let connection = connections.get(event.sender.id);
    if (!connection) {
      connection = connect(event.sender, serve, () => connections.delete(event.sender.id));
      connections.set(event.sender.id, connection);
    }
    connection.deliver(text);
  });
}

function connect(page: WebContents, serve: (channel: ClosableChannel) => void, forget: () => void): Connection {
  const messageHandlers: ((text: string) => void)[] = [];
  const closeHandlers: (() => void)[] = [];
  let open = true;

  const close = () => {
    if (!open) return;
    open = false;
    page.off('did-start-navigation', onNavigation);
    page.off('render-process-gone', close);
    page.off('destroyed', close);
    forget();
    for (const handler of closeHandlers) handler();
  };
  const onNavigation = (details: { isMainFrame: boolean; isSameDocument: boolean }) => {
    if (details.isMainFrame && !details.isSameDocument) close();
  };
  const end = () => {
    if (!open) return;
    if (!page.isDestroyed()) page.send('starpo-closed');
    close();
  };
  page.on('did-start-navigation', onNavigation);
  page.on('render-process-gone', close);
  page.on('destroyed', close);

  serve({
    send: (text) => {
      if (open && !page.isDestroyed()) page.send('starpo', text);
    },
    onMessage: (handler) => void messageHandlers.push(handler),
    onClose: (handler) => void closeHandlers.push(handler),
    close: end,
  });
  return {
    deliver: (text) => {
      for (const handler of messageHandlers) handler(text);
    },
  };
}
