import type { ClosableChannel } from '../core/contract/channel.ts';
import { type Client, createClient } from '../core/contract/client.ts';
import type { RunSummary } from '../core/contract/contract.ts';
import { asFailure, Failure } from '../core/contract/failure.ts';
import { News, type NotificationText } from '../core/contract/notification.ts';
import { isLive } from '../core/contract/run-facts.ts';

/** Milliseconds until core is looked for again where it can't be had. */
const pause = 1000;

const isActive = ({ status }: Pick<RunSummary, 'status'>) => isLive(status);

/** What trains and what is news of it, as the shell shows it; goes on over the next core where one goes. */
export class Activity {
  private readonly open: () => Promise<ClosableChannel>;
  private readonly changed: (active: RunSummary[]) => void;
  private readonly told: (text: NotificationText) => void;
  private readonly news = new News();
  private readonly runs = new Map<string, RunSummary>();
  private readonly waiting = new Set<() => void>();
  private client: Client | null = null;
  private channel: ClosableChannel | null = null;
  private timer: NodeJS.Timeout | undefined;
  private closed = false;

  constructor(
    open: () => Promise<ClosableChannel>,
    changed: (active: RunSummary[]) => void,
    told: (text: NotificationText) => void,
  ) {
    this.open = open;
    this.changed = changed;
    this.told = told;
  }

  /** Running and paused ones, newest first. */
  active(): RunSummary[] {
    return [...this.runs.values()].filter(isActive).sort((a, b) => b.createdAt - a.createdAt);
  }

  follow(): void {
    this.connect().catch(() => this.again());
  }

  /** Every trainer was asked to stop, and there is nothing left but to wait for their ends. */
  get stopping(): boolean {
    return this.waiting.size > 0;
  }

  /** Asks every active trainer to stop after a checkpoint; settles when they have. Throws `not_connected`, and what a trainer can't be asked for, such as `trainer_not_responding`. */
  async stopAll(): Promise<void> {
    const { client } = this;
    if (!client) throw notConnected();
    const asked = new Set<string>();
    for (;;) {
      const active = (await client.call('runs.list', {})).filter(isActive);
      if (active.length === 0) return;
      for (const run of active) this.take(run);
      const others = active.filter(({ id }) => !asked.has(id));
      await Promise.all(others.map(({ id }) => stop(client, id)));
      for (const { id } of others) asked.add(id);
      await this.untilEnded(active);
    }
  }

  private async untilEnded(runs: readonly RunSummary[]): Promise<void> {
    const ended = () => runs.every(({ id }) => !isActive(this.runs.get(id) ?? { status: 'stopped' }));
    await new Promise<void>((resolve) => {
      const look = () => {
        if (!ended()) return;
        this.waiting.delete(look);
        resolve();
      };
      this.waiting.add(look);
      look();
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
    client.on('run', (run) => this.take(run));
    client.on('alerts', ({ runId, alerts }) => this.pass(this.news.ofAlerts(this.runs.get(runId), alerts)));
    client.on('removed', ({ runId }) => {
      this.runs.delete(runId);
      this.tell();
    });
    const refresh = async () => {
      const runs = await client.call('runs.list', {});
      this.runs.clear();
      for (const run of runs) {
        this.runs.set(run.id, run);
        this.pass(this.news.ofRun(run));
      }
      this.tell();
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

  private take(run: RunSummary): void {
    const before = this.runs.get(run.id);
    this.runs.set(run.id, run);
    // What has long ended is no concern of the shell's.
    if (isActive(run) || (before && isActive(before))) this.tell();
    this.pass(this.news.ofRun(run));
  }

  private pass(text: NotificationText | null): void {
    if (text) this.told(text);
  }

  private tell(): void {
    this.changed(this.active());
    for (const look of [...this.waiting]) look();
  }
}

async function stop(client: Client, runId: string): Promise<void> {
  try {
    await client.call('runs.command', { runId, command: 'stop' });
  } catch (error) {
    // It may have ended just now.
    if (asFailure(error).code !== 'run_not_active') throw error;
  }
}

const notConnected = () =>
  new Failure(
    'not_connected',
    'The app is not connected to its core at the moment, so nothing was stopped.',
    'Training goes on by itself. Wait a moment, then try again.',
  );

/** Share that is done of everything active, 0 to 1, and whether all of it waits; null where nothing is. */
export function overall(active: readonly RunSummary[]): { share: number; paused: boolean } | null {
  if (active.length === 0) return null;
  const shares = active.map(({ iteration, iterations }) => iteration / Math.max(1, iterations));
  const share = shares.reduce((sum, each) => sum + each, 0) / shares.length;
  return { share: Math.min(1, share), paused: active.every(({ status }) => status === 'paused') };
}
