import { createContext, type ReactNode, useContext, useState } from 'react';
import { useStore } from 'zustand';
import { type ChartsState, type ChartsStore, createChartsStore } from './charts-store.ts';

const ChartsContext = createContext<ChartsStore | null>(null);

/** Charts inside share their zoom and cross-hair. */
export function ChartsView({ children }: { children: ReactNode }) {
  const [store] = useState(createChartsStore);
  return <ChartsContext value={store}>{children}</ChartsContext>;
}

export function useChartsStore(): ChartsStore {
  const store = useContext(ChartsContext);
  if (!store) throw new Error('No charts: render this inside a ChartsView.');
  return store;
}

/** Selects from the enclosing ChartsView. */
export function useCharts<T>(select: (state: ChartsState) => T): T {
  return useStore(useChartsStore(), select);
}
