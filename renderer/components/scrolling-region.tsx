import type { ComponentProps } from 'react';

/** What scrolls by itself within a page; it has a name, `aria-label` or `aria-labelledby`. */
export function ScrollingRegion(props: ComponentProps<'section'>) {
  // biome-ignore lint/a11y/noNoninteractiveTabindex: without a stop of the Tab key nobody could scroll it by the keyboard (WCAG 2.1.1).
  return <section tabIndex={0} {...props} />;
}
