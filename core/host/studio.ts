import { hostname } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { FolderGuard } from '../base/folder-guard.ts';
import { processExists } from '../base/process.ts';
import { type ClosableChannel, channelPair, joinChannels } from '../contract/channel.ts';
import { createClient } from '../contract/client.ts';
import { asDiskFull, asFailure, Failure } from '../contract/failure.ts';
import { newToken } from '../data-folder/access.ts';
import { announceHost, folderToken, forgetHost, type HostRecord, readHost } from '../data-folder/host-file.ts';
import { type Core, type CoreOptions, createCore } from '../index.ts';
import type { Endpoint, EndpointOptions } from '../server/http.ts';
import { type ServedChannel, serveChannel } from '../server/serve-channel.ts';
import { within } from '../server/within.ts';

/** Time in ms to wait for a host that is starting or ending. */
const defaultTimeout = 60_000;
/** Time in ms for open calls to finish before this process releases the data folder. */
const drainTime = 5000;
const retryDelay = 50;
/** Interval (ms) between checks whether the data folder was moved. */
const guardInterval = 1000;

export interface StudioOptions extends CoreOptions {
  /** Address for other processes while this process is the host. Without it, they wait until it exits. */
  endpoint?: EndpointOptions | undefined;
  timeout?: number | undefined;
}

/**
 * Connects to the one server of a data folder: in this process if it has the folder's lock (it is then the host), else over the host's
 * WebSocket. After a host dies, the next channel connects to another host, or this process becomes the host.
 */
export class Studio {
  private readonly options: StudioOptions;
  private readonly served = new Set<ServedChannel>();
  private readonly channels = new Set<ClosableChannel>();
  private hosting: Promise<Core | null> | null = null;
  private listening: Promise<Endpoint> | null = null;
  /** Whether this process can't write to the data folder. */
  private readsOnly = false;
  private closed = false;
  private guard: { folder: FolderGuard; timer: NodeJS.Timeout } | null = null;
  /** Reason why this studio ended before it was closed, or null. */
  private failure: Failure | null = null;
  private readonly failed = Promise.withResolvers<Failure>();

  constructor(options: StudioOptions) {
    this.options = options;
  }

  get home(): string {
    return this.options.home;
  }

  /** Resolves with the reason when the data folder was moved. The studio then opens no more channels; close it. */
  get ended(): Promise<Failure> {
    return this.failed.promise;
  }

  /**
   * Opens a channel to the server. Throws as {@link createCore} does, `data_folder_elsewhere` if the host is on another machine, or
   * `host_unreachable` if the host does not answer.
   */
  async open(): Promise<ClosableChannel> {
    const { home, timeout = defaultTimeout } = this.options;
    const start = Date.now();
    for (;;) {
      this.checkFolder();
      if (this.failure) throw this.failure;
      const core = await this.host();
      if (core) return this.track(this.openOwn(core));
      const record = readHost(home);
      const channel = record && (await this.reach(record));
      if (channel) return this.track(channel);
      const waited = Date.now() - start;
      if (record && record.host !== hostname() && waited >= Math.min(timeout, 2000)) throw elsewhere(home, record);
      if (waited >= timeout) throw unreachable(home, record);
      await pause(retryDelay * (1 + Math.random()));
    }
  }

  /** Serves the API to a client until either side closes, through the host if another process is the host. */
  serve(channel: ClosableChannel): void {
    joinChannels(channel, this.open(), (error) => this.logError(error));
  }

  /** For a long-running app: connects now, and becomes the host whenever the host exits. */
  async stay(): Promise<void> {
    void this.follow(await this.open());
    if (this.options.endpoint?.webFolder !== undefined) await this.endpoint();
  }

  /** Opens this process's HTTP endpoint on first use. */
  endpoint(): Promise<Endpoint> {
    const { home, endpoint = { port: 0 } } = this.options;
    // Only this process serves a read-only folder, so its token is not shared.
    const token = () => (this.readsOnly ? newToken() : unlessFull(() => folderToken(home), newToken));
    const opening = async () => {
      // Loaded on demand, because most commands need no libraries for HTTP and WebSockets.
      const { openEndpoint } = await import('../server/http.ts');
      return openEndpoint(endpoint, { home, token: token() }, (channel) => this.serve(channel));
    };
    this.listening ??= opening().catch((error) => {
      this.listening = null;
      throw error;
    });
    return this.listening;
  }

  /** If this process is the host: stops starting queued runs until `work` is called. Resolves after a start in progress has finished or timed out. */
  async rest(): Promise<void> {
    const core = await this.hosting?.catch(() => null);
    if (core) await within(defaultTimeout, core.queue.pause());
  }

  /** Starts queued runs again. */
  async work(): Promise<void> {
    const core = await this.hosting?.catch(() => null);
    core?.queue.work();
  }

  /** Finishes open calls, then releases the data folder. Trainers continue. */
  async close(): Promise<void> {
    this.closed = true;
    this.stopGuard();
    const core = await this.hosting?.catch(() => null);
    if (core?.history.locked && !this.failure) forgetHost(this.home);
    const answered = Promise.all([...this.served].map((each) => each.idle()));
    const drained = within(drainTime, answered);
    const endpoint = await this.listening?.catch(() => null);
    await endpoint?.close(drained);
    await drained;
    for (const channel of [...this.channels]) channel.close();
    await core?.dispose();
  }

  /** Returns this process's server, or null if another process is the host. */
  private host(): Promise<Core | null> {
    if (this.closed) throw closedFailure();
    this.hosting ??= this.becomeHost().then(
      (core) => {
        if (!core) this.hosting = null;
        return core;
      },
      (error) => {
        this.hosting = null;
        throw error;
      },
    );
    return this.hosting;
  }

  private async becomeHost(): Promise<Core | null> {
    // Brief commands without an endpoint need no threads and no automatic actions.
    const thread = this.options.endpoint !== undefined;
    const core = await createCore({ thread, backgroundWork: thread, ...this.options }).catch((error) => {
      if (error instanceof Failure && error.code === 'data_folder_in_use') return null;
      throw error;
    });
    this.readsOnly = core?.history.locked === false;
    if (!core || this.readsOnly || !this.options.endpoint) return core;
    try {
      const { origin, token } = await this.endpoint();
      const record = { address: origin, token, pid: process.pid, host: hostname() };
      unlessFull(
        () => announceHost(this.home, record),
        () => this.logError(notAnnounced(this.home)),
      );
      return core;
    } catch (error) {
      await core.dispose();
      throw error;
    }
  }

  private openOwn(core: Core): ClosableChannel {
    const { left, right } = channelPair();
    const served = serveChannel(core, right);
    this.served.add(served);
    // Calls of a closed client may still be running.
    left.onClose(() => void served.idle().then(() => this.served.delete(served)));
    return left;
  }

  /** Tracks a channel so that `close` closes it. */
  private track(channel: ClosableChannel): ClosableChannel {
    this.channels.add(channel);
    channel.onClose(() => void this.channels.delete(channel));
    this.startGuard();
    if (!this.closed) return channel;
    channel.close();
    throw closedFailure();
  }

  /** Ends this studio when its data folder was moved: otherwise it would create the old folder again. */
  private startGuard(): void {
    if (this.guard || this.closed) return;
    const folder = new FolderGuard(this.home);
    const timer = setInterval(() => this.checkFolder(), guardInterval).unref();
    this.guard = { folder, timer };
  }

  private checkFolder(): void {
    const failure = this.guard?.folder.check();
    if (failure) this.end(failure);
  }

  private stopGuard(): void {
    clearInterval(this.guard?.timer);
    this.guard?.folder.close();
    this.guard = null;
  }

  private end(failure: Failure): void {
    this.failure = failure;
    this.stopGuard();
    this.failed.resolve(failure);
    for (const channel of [...this.channels]) channel.close();
  }

  private async reach({ address, token, pid, host }: HostRecord): Promise<ClosableChannel | null> {
    if (host !== hostname() || !processExists(pid)) return null;
    // A stale record may name our own address.
    if (address === (await this.listening)?.origin) return null;
    const { reachCore } = await import('../server/reach.ts');
    return reachCore(address, token);
  }

  private async follow(first: ClosableChannel): Promise<void> {
    for (let channel: ClosableChannel | null = first; !this.closed && !this.failure; channel = await this.reopen()) {
      if (channel) await this.untilClosed(channel);
      else await pause(1000);
    }
  }

  private untilClosed(channel: ClosableChannel): Promise<void> {
    // The host may be a command, which doesn't start queued runs unless asked.
    if (this.options.worksQueue)
      createClient(channel)
        .call('queue.work', {})
        .catch(() => {});
    return new Promise((ended) => channel.onClose(ended));
  }

  private reopen(): Promise<ClosableChannel | null> {
    return this.open().catch((error) => {
      this.logError(error);
      return null;
    });
  }

  private logError(error: unknown): void {
    if (this.closed) return;
    const { message, hint } = asFailure(error);
    (this.options.log ?? console.error)(`${message} ${hint}`);
  }
}

/** Returns the result of `work`, or of `otherwise` if the disk is full: the app must open, because it can delete runs. */
function unlessFull<T>(work: () => T, otherwise: () => T): T {
  try {
    return work();
  } catch (error) {
    if (asDiskFull(error)) return otherwise();
    throw error;
  }
}

const notAnnounced = (home: string) =>
  new Failure(
    'disk_full',
    `The disk of ${home} is full, so other commands can't connect to this app.`,
    'Free some disk space, then restart the app.',
  );

function elsewhere(home: string, { host, pid }: HostRecord): Failure {
  return new Failure(
    'data_folder_elsewhere',
    `The data folder ${home} is in use by StarPO Studio on another machine, ${host} (process ${pid}).`,
    `Use StarPO Studio on ${host}, quit it there, or choose another data folder with --home or STARPO_HOME.`,
  );
}

function unreachable(home: string, record: HostRecord | null): Failure {
  const holder = record
    ? `process ${record.pid} does not answer at ${record.address}`
    : 'its process and address are unknown';
  return new Failure(
    'host_unreachable',
    `Another StarPO Studio uses the data folder ${home} and can't be reached: ${holder}.`,
    'Try again in a moment. Otherwise end that process (training continues), or choose another data folder with --home or STARPO_HOME.',
  );
}

function closedFailure(): Failure {
  return new Failure(
    'studio_closed',
    'StarPO Studio is shutting down.',
    'Restart StarPO Studio. Active training runs are not affected.',
  );
}
