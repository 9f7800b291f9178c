import type { Channel } from './channel.ts';
import type { ApiError } from './contract.ts';

/** Scheme of links that open pages in the desktop app: `starpo://run/ID` is `#/run/ID`. */
export const linkScheme = 'starpo';

/** The preload's message channel to the server. */
export interface Bridge {
  send(text: string): void;
  /** Calls the handler with every message. Returns a function that unsubscribes. */
  receive(handler: (text: string) => void): () => void;
  /** Calls the handler when the server has closed the channel. Returns a function that unsubscribes. */
  onClose(handler: () => void): () => void;
}

/** Opens a channel over the bridge. After the server closes it, a new channel can be opened: the next message reaches the current server. */
export function bridgeChannel(bridge: Bridge): Channel {
  const closeHandlers: (() => void)[] = [];
  const unsubscribers: (() => void)[] = [];
  unsubscribers.push(
    bridge.onClose(() => {
      for (const unsubscribe of unsubscribers.splice(0)) unsubscribe();
      for (const handler of closeHandlers.splice(0)) handler();
    }),
  );
  return {
    send: (text) => bridge.send(text),
    onMessage: (handler) => void unsubscribers.push(bridge.receive(handler)),
    onClose: (handler) => void closeHandlers.push(handler),
  };
}

/** The preload's API for exports. */
export interface ExportSaver {
  /** Lets the user choose a location and copies the files of an export there. `place` is null if the user cancels. */
  save(exportId: string): Promise<{ place: string | null; problem: string | null }>;
}

/** The preload's API for uploads. */
export interface Uploader {
  /** Sends a part of the announced upload `file`. */
  upload(file: string, offset: number, part: Uint8Array): Promise<{ problem: string | null }>;
}

/** The data folder from the next start of the desktop app. */
export interface FolderChoice {
  /** `start`: set by STARPO_HOME or `--home`, which the app can't change. */
  by: 'start' | 'user' | 'default';
  /** Null if it is the current folder. */
  next: string | null;
  /** Why the request failed. */
  problem: ApiError | null;
}

/** `get` returns the current choice; `choose` lets the user choose a folder; `default` returns to the default folder. */
export type FolderRequest = 'get' | 'choose' | 'default';

/** The preload's API for the data folder. */
export interface FolderChooser {
  dataFolder(request: FolderRequest): Promise<FolderChoice>;
  /** Restarts the app, after the same questions as on closing. */
  restart(): void;
}

/** The preload's API for links into the app. */
export interface LinkOpener {
  /** Calls the handler with the hash of the page to open. Returns a function that unsubscribes. */
  onOpenPage(handler: (page: string) => void): () => void;
}

/** The preload's API for notifications. */
export interface Notifier {
  /** Sets the user's choice. The main process shows notifications and stores the choice, because it also applies without a page. */
  chooseNotifications(choice: 'on' | 'off'): void;
}

/** The preload's API for the menu bar. */
export interface MenuBar {
  /** Calls the handler with the id of the chosen command (commands.ts). Returns a function that unsubscribes. */
  onCommand(handler: (command: string) => void): () => void;
}
