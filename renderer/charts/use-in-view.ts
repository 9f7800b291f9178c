import { type RefObject, useEffect, useState } from 'react';

/** Pixels outside the window that count as visible, so that charts are drawn in time. */
const margin = 240;

/** Returns whether the element is visible or nearly so. */
export function useInView(element: RefObject<Element | null>): boolean {
  const [inView, setInView] = useState(false);
  useEffect(() => {
    const observer = new IntersectionObserver((entries) => setInView(entries.at(-1)!.isIntersecting), {
      rootMargin: `${margin}px`,
    });
    observer.observe(element.current!);
    return () => observer.disconnect();
  }, [element]);
  return inView;
}
