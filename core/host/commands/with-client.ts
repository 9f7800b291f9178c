import { dataFolder } from '../../base/home.ts';
import { type Client, createClient } from '../../contract/client.ts';
import { confirmingCommands } from '../../contract/confirm-command.ts';
import { Failure } from '../../contract/failure.ts';
import { unlessAborted } from '../cancelable.ts';
import { askOnTerminal } from '../confirm-command.ts';
import { resolveRun } from '../run-reference.ts';
import type { Studio, StudioOptions } from '../studio.ts';

/** Options that most commands have. */
export interface CommandOptions {
  home?: string | undefined;
  json?: boolean;
}

type ConnectOptions = Pick<StudioOptions, 'endpoint' | 'worksQueue' | 'inBackground'> & {
  home: string | undefined;
};

/** Connects a command to a data folder and always disconnects afterwards. */
export async function withStudio<T>(
  { home, ...options }: ConnectOptions,
  use: (studio: Studio) => Promise<T>,
): Promise<T> {
  // Help and commands without a data folder start faster without the app's logic.
  const { Studio } = await import('../studio.ts');
  const studio = new Studio({
    home: dataFolder(home),
    resources: process.env.STARPO_RESOURCES,
    ...options,
  });
  try {
    return await use(studio);
  } finally {
    await studio.close();
  }
}

/**
 * Uses the API for one command. `repeatable` marks a command that is retried if the host exits before answering: `use` must be read-only or safe to repeat.
 * `signal` cancels connecting; `use` must handle its own cancellation.
 */
export async function withClient<T>(
  home: string | undefined,
  use: (client: Client) => Promise<T>,
  { repeatable = false, signal }: { repeatable?: boolean; signal?: AbortSignal } = {},
): Promise<T> {
  return withStudio({ home }, (studio) => (repeatable ? acrossHosts : onHost)(studio, use, signal));
}

/** Uses the API for one command about a run. */
export function withRun<T>(
  home: string | undefined,
  named: string,
  use: (client: Client, runId: string) => Promise<T>,
  options?: Parameters<typeof withClient>[2],
): Promise<T> {
  let reference = named;
  const useRun = async (client: Client) => {
    const runId = await resolveRun(client, reference);
    // A newer run may have the same prefix when this is repeated.
    reference = runId;
    return use(client, runId);
  };
  return withClient(home, useRun, options);
}

/** Uses the API of the current host. */
async function onHost<T>(studio: Studio, use: (client: Client) => Promise<T>, signal?: AbortSignal): Promise<T> {
  const channel = await unlessAborted(signal, studio.open());
  try {
    const client = confirmingCommands(createClient(channel), askOnTerminal);
    // A host that has just started might not have indexed every run.
    await unlessAborted(signal, client.call('history.ready', {}));
    return await use(client);
  } finally {
    channel.close();
  }
}

/** Uses the API, and starts over with the next host whenever the current host exits. `signal` cancels connecting. */
export async function acrossHosts<T>(
  studio: Studio,
  use: (client: Client) => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  for (;;) {
    try {
      return await onHost(studio, use, signal);
    } catch (error) {
      if (!(error instanceof Failure && error.code === 'connection_lost')) throw error;
    }
  }
}
