/** Runs work one at a time. All requests during a run are answered by one more run. */
export class Coalescer {
  private readonly work: () => Promise<void>;
  private running: Promise<void> | null = null;
  private again = false;

  constructor(work: () => Promise<void>) {
    this.work = work;
  }

  /** Resolves after a run that started after this call. Rejects if the work fails. */
  request(): Promise<void> {
    if (this.running) this.again = true;
    // Deferred, because the work may request itself before it first awaits.
    this.running ??= Promise.resolve().then(() => this.loop());
    return this.running;
  }

  get isRunning(): boolean {
    return this.running !== null;
  }

  /** Resolves when no run is in progress; never rejects. */
  async settled(): Promise<void> {
    await this.running?.catch(() => {});
  }

  private async loop(): Promise<void> {
    try {
      do {
        this.again = false;
        await this.work();
      } while (this.again);
    } finally {
      this.running = null;
    }
  }
}
