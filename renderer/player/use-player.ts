import { useEffect } from 'react';
import { frames } from '../charts/frame-scheduler.ts';
import { useReplay } from '../stores/replay-store.ts';
import { isMoving, keyAction, restOf } from './player.ts';

/** Moves the player on in animation frames, as long as anything moves, and gives it the keyboard. */
export function usePlayer(): void {
  const moving = useReplay((state) => isMoving(state.player));
  useEffect(() => (moving ? run() : undefined), [moving]);
  useEffect(() => {
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
}

function run(): () => void {
  let last = performance.now();
  function tick(): void {
    const now = performance.now();
    const { replay, player, act } = useReplay.getState();
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

function onKey(event: KeyboardEvent): void {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target instanceof Element && hasOwnKeys(event.target, event.key)) return;
  const action = keyAction(event.key);
  if (!action) return;
  event.preventDefault();
  useReplay.getState().act(action);
}

/** Controls keep the keys that they need themselves: a slider its arrows, a button its space. */
export function hasOwnKeys(target: Element, key: string): boolean {
  if (target.matches('input, select, textarea')) return true;
  return key === ' ' && target.closest('button, a, summary') !== null;
}
