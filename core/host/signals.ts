/** Waits for Ctrl-C or a request to end; `close` lets the signals end the process again. */
export function nextSignal(): { signal: Promise<NodeJS.Signals>; close(): void } {
  const names = ['SIGINT', 'SIGTERM'] as const;
  let heard: (name: NodeJS.Signals) => void;
  const signal = new Promise<NodeJS.Signals>((resolve) => {
    heard = resolve;
  });
  const listener = (name: NodeJS.Signals) => {
    close();
    heard(name);
  };
  const close = () => {
    for (const name of names) process.off(name, listener);
  };
  for (const name of names) process.on(name, listener);
  return { signal, close };
}
