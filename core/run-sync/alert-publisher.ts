import type { Emitter } from '../base/emitter.ts';
import type { Notices } from '../base/notices.ts';
import type { Alert } from '../contract/contract.ts';
import { readAlerts } from '../history/annotations.ts';
import type { HistoryDatabase } from '../history/database.ts';
import type { RunEvents } from './run-events.ts';

/** Upper limit for timers, in ms. */
const longestTimer = 86_400_000;

interface AlertPublisherParts {
  history: { database: HistoryDatabase };
  notices: Notices;
  events: Emitter<RunEvents>;
}

/** Publishes the alerts of a run, and again when the next snooze ends. */
export class AlertPublisher {
  private readonly runId: string;
  private readonly parts: AlertPublisherParts;
  private timer: NodeJS.Timeout | undefined;

  constructor(runId: string, parts: AlertPublisherParts) {
    this.runId = runId;
    this.parts = parts;
  }

  publish(): void {
    const { runId } = this;
    const alerts = this.read();
    this.parts.notices.emit('alerts', { runId, alerts });
    this.parts.events.emit('alerts', { runId });
    this.plan(alerts);
  }

  /** Plans the publication at the end of the next snooze. */
  plan(alerts: readonly Alert[] = this.read()): void {
    this.close();
    const now = Date.now();
    const ends = alerts.flatMap(({ state, snoozedUntil }) =>
      state === 'snoozed' && snoozedUntil !== null && snoozedUntil > now ? [snoozedUntil - now] : [],
    );
    if (ends.length > 0) this.timer = setTimeout(() => this.publish(), Math.min(longestTimer, ...ends)).unref();
  }

  close(): void {
    clearTimeout(this.timer);
  }

  private read(): Alert[] {
    return readAlerts(this.parts.history.database, this.runId);
  }
}
