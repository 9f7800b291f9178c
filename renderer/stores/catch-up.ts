export interface CatchUp {
  /** Applies a notice now, and once more on top of the snapshot that is under way. */
  notice(apply: () => void): void;
  /** Asks for a snapshot and applies it, unless another was asked for in the meantime. Rejects as `ask` does. */
  snapshot<T>(ask: () => Promise<T>, apply: (value: T) => void): Promise<void>;
}

/**
 * Keeps what core tells together with what it is asked for: an answer may be older than notices that came before it, which must not be lost.
 * Applying a notice twice must do the same as once.
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
