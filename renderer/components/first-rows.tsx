import { useState } from 'react';
import { Button } from './basics.tsx';

/** Number of rows shown initially. */
const initialRows = 50;

/** Returns the first rows of a list and a button to show all. */
export function useFirstRows<T>(rows: readonly T[]): { shown: readonly T[]; more: React.ReactNode } {
  const [all, setAll] = useState(false);
  if (all || rows.length <= initialRows) return { shown: rows, more: null };
  const more = (
    <Button kind="quiet" onClick={() => setAll(true)}>
      Show all {rows.length}
    </Button>
  );
  return { shown: rows.slice(0, initialRows), more };
}
