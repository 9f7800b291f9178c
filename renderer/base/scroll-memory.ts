import { type RefObject, useEffect, useLayoutEffect } from 'react';

/** Time in ms to wait for a page to reach its earlier length. */
const patience = 2000;

/** Stable key of the current history entry; null in browsers without the Navigation API. */
const entryKey = (): string | null =>
  (window as { navigation?: { currentEntry?: { key: string } | null } }).navigation?.currentEntry?.key ??
  null;

/** Events that mean the user is scrolling. */
const kinds = ['wheel', 'touchmove', 'keydown', 'pointerdown'] as const;

const places = new Map<string, number>();

/** Restores an element's scroll position on back and forward; browsers only do so for the document. A new `place` is a new page. */
export function useScrollMemory(element: RefObject<HTMLElement | null>, place: string): void {
  useEffect(() => {
    const scrolled = element.current;
    if (!scrolled) return;
    let key = entryKey();
    const remember = () => {
      if (key !== null) places.set(key, scrolled.scrollTop);
    };
    const move = () => {
      key = entryKey();
    };
    scrolled.addEventListener('scroll', remember, { passive: true });
    addEventListener('hashchange', move);
    return () => {
      scrolled.removeEventListener('scroll', remember);
      removeEventListener('hashchange', move);
    };
  }, [element]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: a new `place` reruns the effect.
  useLayoutEffect(() => {
    const scrolled = element.current;
    if (!scrolled) return;
    const target = places.get(entryKey() ?? '') ?? 0;
    scrolled.scrollTop = target;
    if (target === 0) return;
    // Content loads in parts, also above that position. Stop restoring when the user scrolls.
    const until = performance.now() + patience;
    let frame = 0;
    const hold = () => {
      if (scrolled.scrollTop !== target) scrolled.scrollTop = target;
      if (performance.now() < until) frame = requestAnimationFrame(hold);
      else end();
    };
    const end = () => {
      cancelAnimationFrame(frame);
      for (const kind of kinds) scrolled.removeEventListener(kind, end);
    };
    for (const kind of kinds) scrolled.addEventListener(kind, end, { passive: true });
    hold();
    return end;
  }, [place]);
}
