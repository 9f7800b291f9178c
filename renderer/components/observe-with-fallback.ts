import { observeElementRect, type Rect, type Virtualizer } from '@tanstack/react-virtual';

/** Observes the size of a virtualized list. Assumes a height of 900 px if there is no layout, as in tests. */
export function observeWithFallback(
  virtual: Virtualizer<HTMLElement, Element>,
  onRect: (rect: Rect) => void,
): (() => void) | undefined {
  return observeElementRect(virtual, ({ width, height }) => onRect({ width, height: height || 900 }));
}
