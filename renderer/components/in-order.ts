import { createElement, Fragment, type ReactNode } from 'react';

/** Renders items identified only by position (turns, tokens, parts of a string), without keys. */
export const inOrder = <T>(items: readonly T[], draw: (item: T, index: number) => ReactNode): ReactNode =>
  createElement(Fragment, null, ...items.map(draw));
