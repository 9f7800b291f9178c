import { useState } from 'react';
import { Button } from './basics.tsx';

/** Rows of a long list that are shown at first. */
const few = 50;

/** The first rows of a list, or all of them once a person asks; with the button that asks, where there are more. */
export function useFirstRows<T>(rows: readonly T[]): { shown: readonly T[]; more: React.ReactNode } {
  const [all, setAll] = useState(false);
  if (all || rows.length <= few) return { shown: rows, more: null };
  const more = (
    <Button kind="quiet" onClick={() => setAll(true)}>
      Show all {rows.length}
    </Button>
  );
  return { shown: rows.slice(0, few), more };
}
