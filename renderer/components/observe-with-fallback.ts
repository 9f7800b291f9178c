import { observeElementRect, type Rect, type Virtualizer } from '@tanstack/react-virtual';

/** Size observer for virtualized lists. Without a layout, as in tests, it assumes a height of 900 px. */
export function observeWithFallback(
  virtual: Virtualizer<HTMLElement, Element>,
  onRect: (rect: Rect) => void,
): (() => void) | undefined {
  return observeElementRect(virtual, ({ width, height }) => onRect({ width, height: height || 900 }));
}
