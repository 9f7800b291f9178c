import { createElement, Fragment, type ReactNode } from 'react';

/** Draws what has no name but its place (turns, tokens, pieces of a text), as if each piece was written out where it stands: so none needs a key. */
export const inOrder = <T>(items: readonly T[], draw: (item: T, place: number) => ReactNode): ReactNode =>
  createElement(Fragment, null, ...items.map(draw));
