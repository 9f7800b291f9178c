/** Minimum time in ms between two throttled calls. */
const interval = 250;

/** Throttles frequent notices of a run: acts immediately, or at most once per {@link interval}. */
export class Throttle {
  private readonly action: () => void | Promise<void>;
  private actedAt = 0;
  private timer: NodeJS.Timeout | null = null;
  private acting: void | Promise<void> = undefined;

  /** A promise returned by `action` must not reject. */
  constructor(action: () => void | Promise<void>) {
    this.action = action;
  }

  publish({ immediate }: { immediate: boolean }): void {
    if (immediate) this.act();
    else this.timer ??= setTimeout(() => this.act(), Math.max(0, this.actedAt + interval - Date.now()));
  }

  /** Cancels the planned call and waits for the one in progress. */
  async close(): Promise<void> {
    this.cancel();
    await this.acting;
  }

  private act(): void {
    this.cancel();
    this.actedAt = Date.now();
    this.acting = this.action();
  }

  private cancel(): void {
    if (this.timer) clearTimeout(this.timer);
    this.timer = null;
  }
}
