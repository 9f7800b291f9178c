import { type RefObject, useEffect, useState } from 'react';

/** Pixels beyond the window's edge within which something counts as seen, so that it is drawn before it comes. */
const margin = 240;

/** Whether an element is in view, or nearly. */
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
