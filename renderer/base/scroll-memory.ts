import { type RefObject, useEffect, useLayoutEffect } from 'react';

/** How long (ms) a page may take to be as long as it was. */
const patience = 2000;

/** Of an entry of the browser's history, the key that it keeps; browsers without one begin every page at its top. */
const entryKey = (): string | null =>
  (window as { navigation?: { currentEntry?: { key: string } | null } }).navigation?.currentEntry?.key ??
  null;

/** What a person scrolls by. */
const kinds = ['wheel', 'touchmove', 'keydown', 'pointerdown'] as const;

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

  // biome-ignore lint/correctness/useExhaustiveDependencies: the effect reads no `place`; another one only makes it look again.
  useLayoutEffect(() => {
    const scrolled = element.current;
    if (!scrolled) return;
    const wanted = places.get(entryKey() ?? '') ?? 0;
    scrolled.scrollTop = wanted;
    if (wanted === 0) return;
    // What the page shows comes piece by piece, above that place too; a person who scrolls meanwhile is left alone.
    const until = performance.now() + patience;
    let frame = 0;
    const hold = () => {
      if (scrolled.scrollTop !== wanted) scrolled.scrollTop = wanted;
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
