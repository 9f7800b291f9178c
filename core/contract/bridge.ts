import type { Channel } from './channel.ts';
import type { ApiError } from './contract.ts';

/** What Electron's preload offers the page: text both ways, and word of the end of what is behind it. */
export interface Bridge {
  send(text: string): void;
  /** Calls back with every message; gives the function that ends it. */
  receive(handler: (text: string) => void): () => void;
  /** Calls back when core's side has closed; gives the function that ends it. */
  onClose(handler: () => void): () => void;
}

/** One channel over the bridge. After core closes it, another can be opened: the next message reaches the current core. */
export function bridgeChannel(bridge: Bridge): Channel {
  const closeHandlers: (() => void)[] = [];
  const endings: (() => void)[] = [];
  endings.push(
    bridge.onClose(() => {
      for (const end of endings.splice(0)) end();
      for (const handler of closeHandlers.splice(0)) handler();
    }),
  );
  return {
    send: (text) => bridge.send(text),
    onMessage: (handler) => void endings.push(bridge.receive(handler)),
    onClose: (handler) => void closeHandlers.push(handler),
  };
}

/** What the preload offers for exports. */
export interface Saver {
  /** Lets the person choose where an export's files go, and puts them there; `place`: null where they thought better of it. */
  save(exportId: string): Promise<{ place: string | null; problem: string | null }>;
}

/** What the preload offers for bundles. */
export interface Bringer {
  /** Lets the person choose a file, and puts it where core expects the bundle; `name`: null where they thought better of it. */
  bring(file: string): Promise<{ name: string | null; problem: string | null }>;
}

/** Which data folder counts from the next start of the desktop app. */
export interface FolderChoice {
  /** `start`: STARPO_HOME or `--home` names it, and nothing is chosen in the app. */
  by: 'start' | 'user' | 'default';
  /** Null: the one that is in use. */
  next: string | null;
  /** Why what was wished for wasn't done. */
  problem: ApiError | null;
}

/** `look`: changes nothing; `choose`: lets the user choose a folder; `usual`: returns to the default. */
export type FolderRequest = 'look' | 'choose' | 'usual';

/** What the preload offers for the data folder. */
export interface FolderChooser {
  dataFolder(wish: FolderRequest): Promise<FolderChoice>;
  /** Restarts the app; the same questions as on closing apply. */
  restart(): void;
}

/** What the preload offers for links into the app. */
export interface Guide {
  /** Calls back with the hash of the page that a link means; gives the function that ends it. */
  onGo(handler: (page: string) => void): () => void;
}

/** What the preload offers for notifications. */
export interface Notifier {
  /** The user's choice. The shell shows notifications, and keeps the choice for times without a page. */
  chooseNotifications(choice: 'on' | 'off'): void;
}

/** What the preload offers for the menu bar. */
export interface Commander {
  /** Calls back with the command (commands.ts) that was chosen there; gives the function that ends it. */
  onCommand(handler: (command: string) => void): () => void;
}
