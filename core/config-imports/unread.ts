import { reasonOf } from './counterparts.ts';
import type { Draft } from './draft.ts';

/** Notes the settings that were not read, grouped by the reason. */
export function noteUnread(draft: Draft): void {
  const { from } = draft;
  const used = new Set(
    ['train', 'val'].flatMap((split) =>
      from.has(`es_manager.${split}.env_configs.tags`) ? (from.list(`es_manager.${split}.env_configs.tags`) ?? []) : [],
    ),
  );
  const isUsed = (path: string) => {
    const [, tag] = /^custom_envs\.([^.]+)/.exec(path) ?? [];
    return tag === undefined || used.has(tag);
  };
  const unread = from.unread().filter(isUsed);
  const grouped = Map.groupBy(unread, (path) => reasonOf(draft.trainers, path));
  for (const [reason, paths] of grouped) draft.note('no_counterpart', `${paths.join(', ')}: ${reason}.`);
}
