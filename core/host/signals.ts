let last: NodeJS.Signals | null = null;

/** Returns the signal that this command received last, or null. */
export const lastSignal = () => last;

/** Waits for SIGINT or SIGTERM; `close` restores their default behavior. */
export function nextSignal(): { signal: Promise<NodeJS.Signals>; close(): void } {
  const names = ['SIGINT', 'SIGTERM'] as const;
  let received: (name: NodeJS.Signals) => void;
  const signal = new Promise<NodeJS.Signals>((resolve) => {
    received = resolve;
  });
  const listener = (name: NodeJS.Signals) => {
    close();
    last = name;
    received(name);
  };
  const close = () => {
    for (const name of names) process.off(name, listener);
  };
  for (const name of names) process.on(name, listener);
  return { signal, close };
}
