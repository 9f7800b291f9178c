interface CatchUp {
  /** Applies a notice now, and again after a pending snapshot. */
  notice(apply: () => void): void;
  /** Requests a snapshot and applies it, unless a newer snapshot was requested. Rejects if `request` does. */
  snapshot<T>(request: () => Promise<T>, apply: (value: T) => void): Promise<void>;
}

/**
 * Merges notices with snapshots. A snapshot may be older than notices that arrived before it; they are applied
 * again, so applying a notice must be idempotent.
 */
export function createCatchUp(): CatchUp {
  let pending: (() => void)[] | null = null;
  return {
    notice(apply) {
      apply();
      pending?.push(apply);
    },
    async snapshot(request, apply) {
      const notices: (() => void)[] = [];
      pending = notices;
      try {
        const value = await request();
        if (pending !== notices) return;
        apply(value);
        for (const reapply of notices) reapply();
      } finally {
        if (pending === notices) pending = null;
      }
    },
  };
}
