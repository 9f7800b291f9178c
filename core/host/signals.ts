/** Waits for SIGINT or SIGTERM; `close` restores their default behavior. */
export function nextSignal(): { signal: Promise<NodeJS.Signals>; close(): void } {
  const names = ['SIGINT', 'SIGTERM'] as const;
  let received: (name: NodeJS.Signals) => void;
  const signal = new Promise<NodeJS.Signals>((resolve) => {
    received = resolve;
  });
  const listener = (name: NodeJS.Signals) => {
    close();
    received(name);
  };
  const close = () => {
    for (const name of names) process.off(name, listener);
  };
  for (const name of names) process.on(name, listener);
  return { signal, close };
}
