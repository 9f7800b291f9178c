/** Interval in ms, and the number of changes per interval that are applied immediately. */
const span = 500;
const few = 8;

interface Gathering<T> {
  add(id: string, change: T): void;
  /** Applies pending changes. */
  flush(): void;
  /** Drops pending changes. */
  stop(): void;
}

/** Batches changes by id. A few changes are applied immediately. Many, for example while runs are being indexed, are applied
 * together twice a second, keeping the newest per id. This limits how often the page redraws.
 */
export function createGathering<T>(apply: (changes: ReadonlyMap<string, T>) => void): Gathering<T> {
  let waiting = new Map<string, T>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let applied = 0;

  function flush(): void {
    if (waiting.size === 0) return;
    const changes = waiting;
    waiting = new Map();
    apply(changes);
  }

  /** Starts an interval. An interval without changes is the last. */
  function begin(): void {
    applied = 0;
    timer = setTimeout(() => {
      timer = undefined;
      if (waiting.size === 0) return;
      begin();
      applied = few;
      flush();
    }, span);
  }

  return {
    add(id, change) {
      waiting.set(id, change);
      if (timer === undefined) begin();
      if (applied >= few) return;
      applied += 1;
      flush();
    },
    flush,
    stop() {
      clearTimeout(timer);
      waiting.clear();
    },
  };
}
