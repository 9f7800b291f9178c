import type { ClosableChannel } from '../core/contract/channel.ts';
import { type Client, createClient } from '../core/contract/client.ts';
import type { RunSummary } from '../core/contract/contract.ts';
import { Failure, ignoring } from '../core/contract/failure.ts';
import { NotificationFilter, type NotificationText } from '../core/contract/notification.ts';
import { isLive } from '../core/contract/run-facts.ts';

/** Reconnection delay in ms. */
const pause = 1000;

const isActive = ({ status }: Pick<RunSummary, 'status'>) => isLive(status);

/** Follows active runs and notifications for the desktop shell. Reconnects when the server is replaced. */
export class Activity {
  private readonly open: () => Promise<ClosableChannel>;
  private readonly changed: (active: RunSummary[]) => void;
  private readonly notify: (text: NotificationText) => void;
  private readonly filter = new NotificationFilter();
  private readonly runs = new Map<string, RunSummary>();
  private readonly waiting = new Set<() => void>();
  private client: Client | null = null;
  private channel: ClosableChannel | null = null;
  private timer: NodeJS.Timeout | undefined;
  private closed = false;

  constructor(
    open: () => Promise<ClosableChannel>,
    changed: (active: RunSummary[]) => void,
    notify: (text: NotificationText) => void,
  ) {
    this.open = open;
    this.changed = changed;
    this.notify = notify;
  }

  /** Running and paused runs, newest first. */
  active(): RunSummary[] {
    return [...this.runs.values()].filter(isActive).sort((a, b) => b.createdAt - a.createdAt);
  }

  follow(): void {
    this.connect().catch(() => this.again());
  }

  /** Whether `stopAll` is waiting for trainers to end. */
  get stopping(): boolean {
    return this.waiting.size > 0;
  }

  /** Stops all active runs after a checkpoint and waits for their end. Throws `not_connected` and the errors of the stop command, such as `trainer_not_responding`. */
  async stopAll(): Promise<void> {
    const { client } = this;
    if (!client) throw notConnected();
    const asked = new Set<string>();
    // A run may have ended just now.
    const stop = (runId: string) =>
      client.call('runs.command', { runId, command: 'stop' }).catch(ignoring('run_not_active'));
    for (;;) {
      const active = (await client.call('runs.list', {})).filter(isActive);
      if (active.length === 0) return;
      for (const run of active) this.update(run);
      const others = active.filter(({ id }) => !asked.has(id));
      await Promise.all(others.map(({ id }) => stop(id)));
      for (const { id } of others) asked.add(id);
      await this.untilEnded(active);
    }
  }

  private async untilEnded(runs: readonly RunSummary[]): Promise<void> {
    const ended = () => runs.every(({ id }) => !isActive(this.runs.get(id) ?? { status: 'stopped' }));
    await new Promise<void>((resolve) => {
      const check = () => {
        if (!ended()) return;
        this.waiting.delete(check);
        resolve();
      };
      this.waiting.add(check);
      check();
    });
  }

  close(): void {
    this.closed = true;
    clearTimeout(this.timer);
    this.channel?.close();
  }

  private async connect(): Promise<void> {
    const channel = await this.open();
    this.channel = channel;
    const client = createClient(channel);
    this.client = client;
    channel.onClose(() => this.again());
    client.on('run', (run) => this.update(run));
    client.on('alerts', ({ runId, alerts }) => this.pass(this.filter.ofAlerts(this.runs.get(runId), alerts)));
    client.on('removed', ({ runId }) => {
      this.runs.delete(runId);
      this.publish();
    });
    const refresh = async () => {
      const runs = await client.call('runs.list', {});
      this.runs.clear();
      for (const run of runs) {
        this.runs.set(run.id, run);
        this.pass(this.filter.ofRun(run));
      }
      this.publish();
    };
    client.on('missed', () => void refresh().catch(() => {}));
    await refresh();
  }

  private again(): void {
    this.client = null;
    if (this.closed) return;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.follow(), pause);
  }

  private update(run: RunSummary): void {
    const before = this.runs.get(run.id);
    this.runs.set(run.id, run);
    // Ignore updates of ended runs.
    if (isActive(run) || (before && isActive(before))) this.publish();
    this.pass(this.filter.ofRun(run));
  }

  private pass(text: NotificationText | null): void {
    if (text) this.notify(text);
  }

  private publish(): void {
    this.changed(this.active());
    for (const check of [...this.waiting]) check();
  }
}

const notConnected = () =>
  new Failure(
    'not_connected',
    'Not connected, so nothing was stopped.',
    'Training continues. Wait a moment, then try again.',
  );

/** Returns the mean progress of active runs in [0, 1], and whether all are paused; null without active runs. */
export function overall(active: readonly RunSummary[]): { share: number; paused: boolean } | null {
  if (active.length === 0) return null;
  const shares = active.map(({ iteration, iterations }) => iteration / Math.max(1, iterations));
  const share = shares.reduce((sum, each) => sum + each, 0) / shares.length;
  return { share: Math.min(1, share), paused: active.every(({ status }) => status === 'paused') };
}
