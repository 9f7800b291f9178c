/** Length of an interval in ms, and the number of changes per interval that are applied immediately. */
const intervalLength = 500;
const immediateChanges = 8;

interface ChangeBatcher<T> {
  add(id: string, change: T): void;
  flush(): void;
  /** Drops pending changes. */
  stop(): void;
}

/**
 * Batches changes by id. A few changes are applied immediately. Many, for example while runs are being indexed,
 * are applied together twice per second, keeping the newest per id. This limits how often the page redraws.
 */
export function createChangeBatcher<T>(apply: (changes: ReadonlyMap<string, T>) => void): ChangeBatcher<T> {
  let pending = new Map<string, T>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let applied = 0;

  function flush(): void {
    if (pending.size === 0) return;
    const changes = pending;
    pending = new Map();
    apply(changes);
  }

  /** Starts an interval. An interval without changes is the last. */
  function startInterval(): void {
    applied = 0;
    timer = setTimeout(() => {
      timer = undefined;
      if (pending.size === 0) return;
      startInterval();
      applied = immediateChanges;
      flush();
    }, intervalLength);
  }

  return {
    add(id, change) {
      pending.set(id, change);
      if (timer === undefined) startInterval();
      if (applied >= immediateChanges) return;
      applied += 1;
      flush();
    },
    flush,
    stop() {
      clearTimeout(timer);
      pending.clear();
    },
  };
}
