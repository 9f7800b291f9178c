import { type RefObject, useEffect, useLayoutEffect } from 'react';

/** How long to wait for a page to reach its earlier length, in ms. */
const restoreTimeout = 5000;

/** Returns a stable key of the current history entry; null in browsers without the Navigation API. */
const entryKey = (): string | null =>
  (window as { navigation?: { currentEntry?: { key: string } | null } }).navigation?.currentEntry?.key ?? null;

/** Events that show that the user is scrolling. */
const scrollEvents = ['wheel', 'touchmove', 'keydown', 'pointerdown'] as const;

const positions = new Map<string, number>();

/** Restores an element's scroll position on back and forward; browsers only do so for the document. `page` identifies the current page. */
export function useScrollMemory(element: RefObject<HTMLElement | null>, page: string): void {
  useEffect(() => {
    const scrolled = element.current;
    if (!scrolled) return;
    let key = entryKey();
    const save = () => {
      if (key !== null) positions.set(key, scrolled.scrollTop);
    };
    const onNavigate = () => {
      key = entryKey();
    };
    scrolled.addEventListener('scroll', save, { passive: true });
    addEventListener('hashchange', onNavigate);
    return () => {
      scrolled.removeEventListener('scroll', save);
      removeEventListener('hashchange', onNavigate);
    };
  }, [element]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: a new `page` reruns the effect.
  useLayoutEffect(() => {
    const scrolled = element.current;
    if (!scrolled) return;
    const target = positions.get(entryKey() ?? '') ?? 0;
    scrolled.scrollTop = target;
    if (target === 0) return;
    // Content loads in parts, also above the position. Stop restoring when the user scrolls.
    const until = performance.now() + restoreTimeout;
    let frame = 0;
    const restore = () => {
      if (scrolled.scrollTop !== target) scrolled.scrollTop = target;
      if (performance.now() < until) frame = requestAnimationFrame(restore);
      else stop();
    };
    const stop = () => {
      cancelAnimationFrame(frame);
      for (const kind of scrollEvents) scrolled.removeEventListener(kind, stop);
    };
    for (const kind of scrollEvents) scrolled.addEventListener(kind, stop, { passive: true });
    restore();
    return stop;
  }, [page]);
}
