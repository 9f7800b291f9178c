import type { libraryProcedures } from '../contract/library.ts';
import type { Core } from '../index.ts';
import type { Handlers } from './handlers.ts';

/** What becomes of runs beside their training. */
export function libraryHandlers(core: Core): Pick<Handlers, keyof typeof libraryProcedures> {
  const { bundles, checkpoints, cleaner, episodeIndex, sizes, trash } = core;
  return {
    'runs.sizes': () => sizes.all(),
    'runs.delete': ({ runIds }) => trash.delete(runIds),
    'runs.clean': ({ runIds, ...cleaning }) => cleaner.clean(runIds, cleaning),
    'runs.cleanable': ({ runIds }) => cleaner.look(runIds),
    'trash.list': () => trash.list(),
    'trash.restore': ({ ids }) => trash.restore(ids),
    'trash.empty': async () => ({ bytes: await trash.empty() }),
    'checkpoints.list': ({ runId }) => checkpoints.list(runId),
    'checkpoints.pin': async ({ runId, iteration, pinned }) => {
      await checkpoints.pin(runId, iteration, pinned);
      return {};
    },
    'bundles.export': ({ runId, ...choice }) => bundles.export(runId, choice),
    'bundles.read': async ({ file, offset }) => ({ piece: await bundles.read(file, offset) }),
    'bundles.begin': async ({ bytes }) => ({ file: await bundles.begin(bytes) }),
    'bundles.write': async ({ file, piece }) => {
      await bundles.write(file, piece);
      return {};
    },
    'bundles.import': async ({ file }) => ({ runId: await bundles.import(file) }),
    'bundles.drop': async ({ file }) => {
      await bundles.drop(file);
      return {};
    },
    'episodes.search': (wanted) => episodeIndex.search(wanted),
  };
}
