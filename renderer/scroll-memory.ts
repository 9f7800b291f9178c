import { type RefObject, useEffect, useLayoutEffect } from 'react';

/** How long (ms) a page may take to be as long as it was. */
const patience = 2000;

/** Of an entry of the browser's history, the key that it keeps; browsers without one begin every page at its top. */
const entryKey = (): string | null =>
  (window as { navigation?: { currentEntry?: { key: string } | null } }).navigation?.currentEntry?.key ??
  null;

const places = new Map<string, number>();

/** Every page begins at its top, and is found again where it was left: a browser remembers its own scroll bar, but not that of an element. `place`: what is another page. */
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

  // biome-ignore lint/correctness/useExhaustiveDependencies: another place is the reason
  useLayoutEffect(() => {
    const scrolled = element.current;
    if (!scrolled) return;
    const wanted = places.get(entryKey() ?? '') ?? 0;
    scrolled.scrollTop = wanted;
    if (wanted === 0 || scrolled.scrollTop === wanted) return;
    // What the page shows is still to come.
    const watch = new ResizeObserver(() => {
      scrolled.scrollTop = wanted;
      if (scrolled.scrollTop === wanted) end();
    });
    for (const child of scrolled.children) watch.observe(child);
    const timer = setTimeout(() => end(), patience);
    const end = () => {
      watch.disconnect();
      clearTimeout(timer);
      for (const kind of ['wheel', 'keydown', 'pointerdown']) scrolled.removeEventListener(kind, end);
    };
    for (const kind of ['wheel', 'keydown', 'pointerdown'])
      scrolled.addEventListener(kind, end, { passive: true });
    return end;
  }, [place]);
}
