import { z } from 'zod';
import type { Channel } from './channel.ts';
import { runId } from './runs.ts';

/** What Electron's preload offers the page: text both ways, and word of the end of what is behind it. */
export interface Bridge {
  send(text: string): void;
  /** Calls back with every message; gives the function that ends it. */
  receive(handler: (text: string) => void): () => void;
  /** Calls back when core's side has closed; gives the function that ends it. */
  onClose(handler: () => void): () => void;
}

/** One channel over the bridge. When core's side closes, another one may be made: the next message reaches whoever is core by then. */
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

/** What a page may have said while its window isn't in front. */
export const notificationText = z.strictObject({
  runId,
  title: z.string().min(1).max(100),
  body: z.string().max(500),
});
export type NotificationText = z.infer<typeof notificationText>;

/** What the preload offers for that. */
export interface Notifier {
  /** {@link NotificationText} as JSON; what is none is dropped. */
  notify(text: string): void;
  /** Calls back with the run whose notification was clicked; gives the function that ends it. */
  onOpen(handler: (runId: string) => void): () => void;
}
