import type { Handlers } from '../contract/contract.ts';
import type { libraryProcedures } from '../contract/library.ts';
import type { Core } from '../index.ts';

/** Handlers for sizes, deletion, trash, checkpoints, bundles and episode search. */
export function libraryHandlers(core: Core): Pick<Handlers, keyof typeof libraryProcedures> {
  const { bundles, checkpoints, cleaner, episodeIndex, sizes, trash } = core;
  return {
    'runs.sizes': () => sizes.all(),
    'runs.delete': ({ runIds }) => trash.delete(runIds),
    'runs.clean': ({ runIds, ...cleaning }) => cleaner.clean(runIds, cleaning),
    'runs.cleanable': ({ runIds }) => cleaner.estimate(runIds),
    'trash.list': () => trash.list(),
    'trash.restore': ({ ids }) => trash.restore(ids),
    'trash.empty': async () => ({ bytes: await trash.empty() }),
    'checkpoints.list': ({ runId }) => checkpoints.list(runId),
    'checkpoints.pin': ({ runId, iteration, pinned }) => checkpoints.pin(runId, iteration, pinned),
    'bundles.export': ({ runId, ...choice }) => bundles.export(runId, choice),
    'bundles.begin': ({ bytes }) => bundles.begin(bytes),
    'bundles.import': async ({ file }) => ({ runId: await bundles.import(file) }),
    'bundles.drop': ({ file }) => bundles.drop(file),
    'episodes.search': (query) => episodeIndex.search(query),
  };
}
