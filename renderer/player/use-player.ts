import { useCallback, useEffect } from 'react';
import { frames } from '../base/frame-scheduler.ts';
import { isMoving, keyAction, type PlayerAction, restOf } from './player.ts';
import type { ReplayStore } from './replay-store.ts';
import { useReplay, useReplayStore } from './replay-view.tsx';

/** Runs the player's clock and handles its keys. */
export function usePlayer(): void {
  const store = useReplayStore();
  useClock();
  usePlayerKeys(useCallback((action) => store.getState().act(action), [store]));
}

/** Advances the player in animation frames while it is moving. */
export function useClock(): void {
  const store = useReplayStore();
  const moving = useReplay((state) => isMoving(state.player));
  useEffect(() => (moving ? run(store) : undefined), [moving, store]);
}

/** Handles the player's keys. `act` must be stable. */
export function usePlayerKeys(act: (action: PlayerAction) => void): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => handleKey(event, act);
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, [act]);
}

function run(store: ReplayStore): () => void {
  let last = performance.now();
  function tick(): void {
    const now = performance.now();
    const { replay, player, act } = store.getState();
    act({
      type: 'tick',
      elapsed: prefersReducedMotion() && player.motion < 1 ? Number.MAX_SAFE_INTEGER : now - last,
      pause: restOf(replay?.frames ?? [], player.index),
    });
    last = now;
    frames.schedule(tick);
  }
  frames.schedule(tick);
  return () => frames.cancel(tick);
}

/** Returns whether the user prefers reduced motion, which skips the motion between boards. */
export function prefersReducedMotion(): boolean {
  return matchMedia('(prefers-reduced-motion: reduce)').matches;
}

/** Passes the key's action to the player, unless a control needs the key. */
function handleKey(event: KeyboardEvent, act: (action: PlayerAction) => void): void {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target instanceof Element && hasOwnKeys(event.target, event.key)) return;
  const action = keyAction(event.key);
  if (!action) return;
  event.preventDefault();
  act(action);
}

const keyOwners = 'input, select, textarea, [data-own-keys], [role="dialog"], [role="alertdialog"], [role="menu"]';

/** Returns whether a control needs the key: a slider its arrows, a button its space bar, a dialog or menu all keys. */
export function hasOwnKeys(target: Element, key: string): boolean {
  if (target.closest(keyOwners) !== null) return true;
  return key === ' ' && target.closest('button, summary') !== null;
}
