import { hostname } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { type ClosableChannel, channelPair, joinChannels } from '../contract/channel.ts';
import { createClient } from '../contract/client.ts';
import { asFailure, Failure } from '../contract/failure.ts';
import {
  announceHost,
  folderToken,
  forgetHost,
  type HostRecord,
  readHost,
} from '../data-folder/host-file.ts';
import { type Core, type CoreOptions, createCore } from '../index.ts';
import { processExists } from '../run-sync/liveness.ts';
import { type Endpoint, type EndpointOptions, openEndpoint } from '../server/http.ts';
import { reachCore } from '../server/reach.ts';
import { type ServedChannel, serveChannel } from '../server/serve-channel.ts';
import { within } from '../server/within.ts';

/** Longest wait for a host that is starting or ending. */
const defaultPatience = 60_000;
/** Longest that calls may take to be answered before this process lets go of the data folder. */
const drainTime = 5000;
const retryPause = 50;

export interface StudioOptions extends CoreOptions {
  /** Where others reach this process while it is the host; without it, they wait until it has ended. */
  endpoint?: EndpointOptions | undefined;
  patience?: number | undefined;
}

/**
 * A data folder's one core, wherever it lives: in this process if it has the folder's lock (it is the host then), else in the host, over its
 * WebSocket. When a host dies, the next channel that is opened finds another one, or this process becomes it.
 */
export class Studio {
  private readonly options: StudioOptions;
  private readonly served = new Set<ServedChannel>();
  private readonly channels = new Set<ClosableChannel>();
  private hosting: Promise<Core | null> | null = null;
  private listening: Promise<Endpoint> | null = null;
  private closed = false;

  constructor(options: StudioOptions) {
    this.options = options;
  }

  get home(): string {
    return this.options.home;
  }

  /**
   * A channel to core. Throws what {@link createCore} throws, `data_folder_elsewhere` where the host is on another machine, or
   * `host_unreachable` where whoever has the folder can't be reached.
   */
  async open(): Promise<ClosableChannel> {
    const { home, patience = defaultPatience } = this.options;
    const start = Date.now();
    for (;;) {
      const core = await this.host();
      if (core) return this.keep(this.openOwn(core));
      const record = readHost(home);
      const channel = record && (await this.reach(record));
      if (channel) return this.keep(channel);
      const waited = Date.now() - start;
      if (record && record.host !== hostname() && waited >= Math.min(patience, 2000))
        throw elsewhere(home, record);
      if (waited >= patience) throw unreachable(home, record);
      await pause(retryPause * (1 + Math.random()));
    }
  }

  /** Gives a client core's API until either side closes, whoever has core. */
  serve(channel: ClosableChannel): void {
    joinChannels(channel, this.open(), (error) => this.problem(error));
  }

  /** For an app that stays: finds core now, and takes over whenever its host goes. */
  async stay(): Promise<void> {
    void this.follow(await this.open());
    if (this.options.endpoint?.webFolder !== undefined) await this.endpoint();
  }

  /** Where this process is reached. */
  endpoint(): Promise<Endpoint> {
    const { home, endpoint = { port: 0 } } = this.options;
    const opening = () =>
      openEndpoint(endpoint, { home, token: folderToken(home) }, (channel) => this.serve(channel));
    this.listening ??= Promise.resolve()
      .then(opening)
      .catch((error) => {
        this.listening = null;
        throw error;
      });
    return this.listening;
  }

  /** Where this process has the data folder: nothing more that waits is started until it is to `work` again. Settles when what was just being started has begun, or takes too long. */
  async rest(): Promise<void> {
    const core = await this.hosting?.catch(() => null);
    if (core) await within(defaultPatience, core.queue.rest());
  }

  /** Goes on with what waits. */
  async work(): Promise<void> {
    const core = await this.hosting?.catch(() => null);
    core?.queue.work();
  }

  /** Answers the calls that have come in, then lets go of everything, the data folder included. Trainers go on. */
  async close(): Promise<void> {
    this.closed = true;
    const core = await this.hosting?.catch(() => null);
    if (core) forgetHost(this.home);
    const answered = Promise.all([...this.served].map((each) => each.idle()));
    const drained = within(drainTime, answered);
    const endpoint = await this.listening?.catch(() => null);
    await endpoint?.close(drained);
    await drained;
    for (const channel of [...this.channels]) channel.close();
    await core?.dispose();
  }

  /** This process's core, or null where another has the data folder. */
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
    // Who serves nobody has nobody wait, and ends soon.
    const thread = this.options.endpoint !== undefined;
    const core = await createCore({ thread, reacts: thread, ...this.options }).catch((error) => {
      if (error instanceof Failure && error.code === 'data_folder_in_use') return null;
      throw error;
    });
    if (!core || !this.options.endpoint) return core;
    try {
      const { origin, token } = await this.endpoint();
      announceHost(this.home, { address: origin, token, pid: process.pid, host: hostname() });
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
    // What a client that is gone has asked for is still at work on core.
    left.onClose(() => void served.idle().then(() => this.served.delete(served)));
    return left;
  }

  /** What is open ends with this studio. */
  private keep(channel: ClosableChannel): ClosableChannel {
    this.channels.add(channel);
    channel.onClose(() => void this.channels.delete(channel));
    if (!this.closed) return channel;
    channel.close();
    throw closedFailure();
  }

  private async reach({ address, token, pid, host }: HostRecord): Promise<ClosableChannel | null> {
    if (host !== hostname() || !processExists(pid)) return null;
    // A record that is stale may name what is our own address by now.
    if (address === (await this.listening)?.origin) return null;
    return reachCore(address, token);
  }

  private async follow(first: ClosableChannel): Promise<void> {
    for (let channel: ClosableChannel | null = first; !this.closed; channel = await this.reopen()) {
      if (channel) await this.untilClosed(channel);
      else await pause(1000);
    }
  }

  private untilClosed(channel: ClosableChannel): Promise<void> {
    // The host may be a command, whose core wouldn't start what waits.
    if (this.options.worksQueue)
      createClient(channel)
        .call('queue.work', {})
        .catch(() => {});
    return new Promise((ended) => channel.onClose(ended));
  }

  private reopen(): Promise<ClosableChannel | null> {
    return this.open().catch((error) => {
      this.problem(error);
      return null;
    });
  }

  private problem(error: unknown): void {
    if (this.closed) return;
    const { message, hint } = asFailure(error);
    (this.options.log ?? console.error)(`${message} ${hint}`);
  }
}

function elsewhere(home: string, { host, pid }: HostRecord): Failure {
  return new Failure(
    'data_folder_elsewhere',
    `The data folder ${home} is in use by StarPO Studio on another machine, ${host} (process ${pid}).`,
    `Work on ${host}, end StarPO Studio there, or choose another data folder with --home or STARPO_HOME.`,
  );
}

function unreachable(home: string, record: HostRecord | null): Failure {
  const holder = record
    ? `process ${record.pid}, which should answer at ${record.address}`
    : 'a process that does not say which';
  return new Failure(
    'host_unreachable',
    `The data folder ${home} is in use by another StarPO Studio that can't be reached: ${holder}.`,
    'Try again in a moment; else end that process (training goes on), or choose another data folder with --home or STARPO_HOME.',
  );
}

function closedFailure(): Failure {
  return new Failure(
    'studio_closed',
    'StarPO Studio is ending.',
    'Start it again. Training goes on meanwhile.',
  );
}
