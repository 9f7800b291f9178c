import type { Handlers } from '../contract/contract.ts';
import { inspectModel } from './inspect.ts';
import type { Models } from './models.ts';

type Names = keyof Handlers & (`models.${string}` | `hub.${string}`);

/** Returns the handlers of `models.*` and `hub.*`. */
export function modelHandlers(
  models: Models,
  core: Parameters<typeof inspectModel>[0],
): Pick<Handlers, Names> {
  return {
    'models.inspect': ({ model, folder }) => inspectModel(core, model, folder),
    'models.list': async ({ checkpoints = true }) => ({
      models: await models.list(),
      downloads: await models.downloads.list(),
      checkpoints: checkpoints ? await models.checkpoints() : [],
    }),
    'models.add': ({ folder }) => models.add(folder),
    'models.forget': ({ folder }) => models.forget(folder),
    'models.delete': ({ name }) => models.delete(name),
    'models.look': ({ repository }) => models.downloads.look(repository),
    'models.download': ({ repository }) => models.downloads.start(repository),
    'models.discard': ({ repository }) => models.downloads.discard(repository),
    'hub.settings': () => models.hub.settings,
    'hub.set': (change) => models.hub.set(change),
  };
}
