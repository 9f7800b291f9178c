import { isMoving, type PlayerAction } from './player.ts';
import type { ReplayStore } from './replay-store.ts';

/**
 * Applies an action to several players. Pause stops those that play. Play starts those that have not ended, or
 * all of them from the start if all have ended.
 */
export function actTogether(stores: readonly ReplayStore[], action: PlayerAction): void {
  if (action.type !== 'toggle') {
    for (const store of stores) store.getState().act(action);
    return;
  }
  const playing = stores.filter((store) => store.getState().player.playing);
  const unfinished = stores.filter((store) => !hasEnded(store));
  const affected = playing.length > 0 ? playing : unfinished.length > 0 ? unfinished : stores;
  for (const store of affected) store.getState().act(action);
}

function hasEnded(store: ReplayStore): boolean {
  const { player } = store.getState();
  return player.index >= player.count - 1 && !isMoving(player);
}
