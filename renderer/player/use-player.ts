import { useCallback, useEffect } from 'react';
import { frames } from '../base/frame-scheduler.ts';
import { isMoving, keyAction, type PlayerAction, restOf } from './player.ts';
import type { ReplayStore } from './replay-store.ts';
import { useReplay, useReplayStore } from './replay-view.tsx';

/** Moves the view's player on in animation frames, as long as anything moves, and gives it the keyboard. */
export function usePlayer(): void {
  const store = useReplayStore();
  useClock();
  usePlayerKeys(useCallback((action) => store.getState().act(action), [store]));
}

/** Moves the view's player on in animation frames, as long as anything moves. */
export function useClock(): void {
  const store = useReplayStore();
  const moving = useReplay((state) => isMoving(state.player));
  useEffect(() => (moving ? run(store) : undefined), [moving, store]);
}

/** The keyboard, for whatever is stable in what it does. */
export function usePlayerKeys(act: (action: PlayerAction) => void): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => pressed(event, act);
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
      elapsed: stillness() && player.motion < 1 ? Number.MAX_SAFE_INTEGER : now - last,
      pause: restOf(replay?.frames ?? [], player.index),
    });
    last = now;
    frames.schedule(tick);
  }
  frames.schedule(tick);
  return () => frames.cancel(tick);
}

/** Who wants no motion sees the boards one after the other. */
function stillness(): boolean {
  return matchMedia('(prefers-reduced-motion: reduce)').matches;
}

/** Where several are open, all of them go on together. */
function pressed(event: KeyboardEvent, act: (action: PlayerAction) => void): void {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target instanceof Element && hasOwnKeys(event.target, event.key)) return;
  const action = keyAction(event.key);
  if (!action) return;
  event.preventDefault();
  act(action);
}

const keepers =
  'input, select, textarea, [data-own-keys], [role="dialog"], [role="alertdialog"], [role="menu"]';

/** Controls keep the keys that they need themselves: a slider its arrows, a button its space, and what says so all of them. What is behind a dialog or a menu hears none of its keys. */
export function hasOwnKeys(target: Element, key: string): boolean {
  if (target.closest(keepers) !== null) return true;
  return key === ' ' && target.closest('button, summary') !== null;
}
