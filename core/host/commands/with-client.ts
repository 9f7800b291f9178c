import { dataFolder } from '../../base/home.ts';
import { type Client, createClient } from '../../contract/client.ts';
import { Failure } from '../../contract/failure.ts';
import { unlessGivenUp } from '../giving-up.ts';
import { Studio, type StudioOptions } from '../studio.ts';

type Wishes = Pick<StudioOptions, 'endpoint' | 'worksQueue' | 'inBackground'> & { home: string | undefined };

/** Joins a data folder for a command and lets go of it afterwards, whatever happens. */
export async function withStudio<T>(
  { home, ...wishes }: Wishes,
  use: (studio: Studio) => Promise<T>,
): Promise<T> {
  const studio = new Studio({
    home: dataFolder(home),
    resources: process.env.STARPO_RESOURCES,
    ...wishes,
  });
  try {
    return await use(studio);
  } finally {
    await studio.close();
  }
}

/**
 * For a brief command: core's API, from the host of the data folder where there is one. `repeatable`: what it asks for changes nothing, so
 * it is asked again where the host ends before it has answered. `signal`: ends the wait for core; what `use` does it ends itself.
 */
export async function withClient<T>(
  home: string | undefined,
  use: (client: Client) => Promise<T>,
  { repeatable = false, signal }: { repeatable?: boolean; signal?: AbortSignal } = {},
): Promise<T> {
  const onWhole = async (client: Client) => {
    // A host that has just started may not know every run yet.
    await unlessGivenUp(signal, client.call('history.ready', {}));
    return use(client);
  };
  return withStudio({ home }, async (studio) =>
    repeatable
      ? acrossHosts(studio, onWhole)
      : onWhole(createClient(await unlessGivenUp(signal, studio.open()))),
  );
}

/** Uses core's API, and begins again over another core wherever the one that it spoke to is gone. */
export async function acrossHosts<T>(studio: Studio, use: (client: Client) => Promise<T>): Promise<T> {
  for (;;) {
    const channel = await studio.open();
    try {
      return await use(createClient(channel));
    } catch (error) {
      if (!(error instanceof Failure && error.code === 'connection_lost')) throw error;
    } finally {
      channel.close();
    }
  }
}
