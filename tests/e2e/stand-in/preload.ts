type Listener = (event: object, ...args: unknown[]) => void;
type Preload = (require: (name: string) => unknown) => void;

/** Names of the functions between the page and the stand-in. */
interface Wire {
  standInSend(channel: string, ...args: unknown[]): void;
  standInAsk(channel: string, ...args: unknown[]): Promise<unknown>;
  standInReceive(channel: string, args: unknown[]): void;
}

/**
 * Returns a script that runs a preload before the page's code, with `contextBridge` and `ipcRenderer` as in a sandboxed preload.
 * It runs in the page's world; only Electron isolates the two.
 */
export const preloadScript = (source: string) =>
  `(${runPreload.toString()})(function (require) { const exports = {}, module = { exports };\n${source}\n});`;

/** Runs in the page, so it can't use anything else in this file. */
function runPreload(preload: Preload): void {
  if (window !== window.top) return;
  const wire = globalThis as unknown as Wire;
  const listeners = new Map<string, Set<Listener>>();
  const send = wire.standInSend;
  const ask = wire.standInAsk;
  Object.defineProperty(globalThis, 'standInReceive', {
    value: (channel: string, args: unknown[]) => {
      for (const listener of [...(listeners.get(channel) ?? [])]) listener({}, ...args);
    },
  });
  const ipcRenderer = {
    send: (channel: string, ...args: unknown[]) => void send(channel, ...args),
    invoke: (channel: string, ...args: unknown[]) => ask(channel, ...args),
    on: (channel: string, listener: Listener) => {
      const known = listeners.get(channel) ?? new Set();
      listeners.set(channel, known.add(listener));
    },
    off: (channel: string, listener: Listener) => void listeners.get(channel)?.delete(listener),
  };
  const contextBridge = {
    exposeInMainWorld: (name: string, api: object) =>
      Object.defineProperty(globalThis, name, { value: Object.freeze({ ...api }), enumerable: true }),
  };
  preload((name) => {
    if (name !== 'electron') throw new Error(`A sandboxed preload can't require ${name}.`);
    return { contextBridge, ipcRenderer };
  });
}
