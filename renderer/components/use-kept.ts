import { useState } from 'react';

/** A value that stays the same object as long as its key does. */
export function useKept<T>(key: string, value: T): T {
  const [kept, setKept] = useState({ key, value });
  if (kept.key === key) return kept.value;
  setKept({ key, value });
  return value;
}
