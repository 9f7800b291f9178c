import { dataFolder } from '../../home.ts';
import { type Core, createCore } from '../../index.ts';

/** Runs a command on a data folder's core and lets go of it afterwards, whatever happens. */
export async function withCore<T>(
  home: string | undefined,
  use: (core: Core) => Promise<T>,
  { worksQueue = false } = {},
): Promise<T> {
  const resources = process.env.STARPO_RESOURCES;
  const core = await createCore({ home: dataFolder(home), resources, worksQueue });
  try {
    return await use(core);
  } finally {
    await core.dispose();
  }
}
