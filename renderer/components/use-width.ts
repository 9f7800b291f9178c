import { type RefObject, useLayoutEffect, useRef, useState } from 'react';

/** Returns the layout width of an element in pixels; 0 only before the first paint, 1000 without layout, as in tests. `E` is the element type of `ref`. */
export function useWidth<E extends HTMLElement = HTMLDivElement>(): {
  ref: RefObject<E | null>;
  width: number;
} {
  const ref = useRef<E>(null);
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const element = ref.current!;
    const measure = () => setWidth(element.clientWidth || 1000);
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return { ref, width };
}
