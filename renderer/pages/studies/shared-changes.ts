import type { Settings, StudyRow } from '../../../core/contract/contract.ts';

/** Returns the changes that all rows of a sweep share, such as a device, and a function that returns the other changes of a row. A single row shares nothing. */
export function divideChanges(rows: readonly Pick<StudyRow, 'set'>[]): {
  shared: Settings;
  own: (set: Settings) => Settings;
} {
  const [first, ...others] = rows;
  const isShared = ([path, value]: [string, unknown]) => others.every(({ set }) => set[path] === value);
  const shared = others.length === 0 ? [] : Object.entries(first!.set).filter(isShared);
  const paths = new Set(shared.map(([path]) => path));
  return {
    shared: Object.fromEntries(shared),
    own: (set) => Object.fromEntries(Object.entries(set).filter(([path]) => !paths.has(path))),
  };
}
