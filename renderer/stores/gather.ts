/** Milliseconds within which no more than a few changes are applied one by one. */
const span = 500;
const few = 8;

export interface Gathering<T> {
  add(id: string, change: T): void;
  /** Applies what waits. */
  flush(): void;
  /** Forgets what waits. */
  stop(): void;
}

/**
 * Applies changes of things that have an id: each at once as long as they are few, and where there are many, as when years of runs are taken in, all together twice a
 * second, of each thing the newest. Whatever is drawn from them is drawn as often.
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

  /** A span without changes is the last one. */
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
