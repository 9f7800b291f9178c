import type { ComponentProps } from 'react';

/** Shows a scrolling region within a page. Needs `aria-label` or `aria-labelledby`. */
export function ScrollingRegion(props: ComponentProps<'section'>) {
  // biome-ignore lint/a11y/noNoninteractiveTabindex: a tab stop allows scrolling by keyboard (WCAG 2.1.1).
  return <section tabIndex={0} {...props} />;
}
