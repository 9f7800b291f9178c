import { observeElementRect, type Rect, type Virtualizer } from '@tanstack/react-virtual';

/** For a list of which only what is in view is drawn: a page without a layout, as in a test, shows what a window would. */
export function observeWithFallback(
  virtual: Virtualizer<HTMLElement, Element>,
  hear: (rect: Rect) => void,
): (() => void) | undefined {
  return observeElementRect(virtual, ({ width, height }) => hear({ width, height: height || 900 }));
}
