interface CatchUp {
  /** Applies a notice now, and again on top of a pending snapshot. */
  notice(apply: () => void): void;
  /** Requests a snapshot and applies it, unless a newer one was requested. Rejects if `ask` does. */
  snapshot<T>(ask: () => Promise<T>, apply: (value: T) => void): Promise<void>;
}

/**
 * Merges notices with snapshots: a snapshot may be older than notices that arrived before it, and these must not be lost.
 * Applying a notice must be idempotent.
 */
export function createCatchUp(): CatchUp {
  let sinceAsked: (() => void)[] | null = null;
  return {
    notice(apply) {
      apply();
      sinceAsked?.push(apply);
    },
    async snapshot(ask, apply) {
      const notices: (() => void)[] = [];
      sinceAsked = notices;
      try {
        const value = await ask();
        if (sinceAsked !== notices) return;
        apply(value);
        for (const again of notices) again();
      } finally {
        if (sinceAsked === notices) sinceAsked = null;
      }
    },
  };
}
