import { type RefObject, useEffect, useRef, useState } from 'react';

/** Width of an element as it is laid out, in pixels; 0 before. `E`: the element that `ref` is given to. */
export function useWidth<E extends HTMLElement = HTMLDivElement>(): {
  ref: RefObject<E | null>;
  width: number;
} {
  const ref = useRef<E>(null);
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const element = ref.current!;
    const look = () => setWidth(element.clientWidth || 1000);
    look();
    const observer = new ResizeObserver(look);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return { ref, width };
}
