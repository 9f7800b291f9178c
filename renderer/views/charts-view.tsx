import { createContext, type ReactNode, useContext, useId, useState } from 'react';
import { useStore } from 'zustand';
import { type ChartsState, type ChartsStore, createChartsStore } from './charts-store.ts';

interface Charts {
  store: ChartsStore;
  /** Charts of one key share the cross-hair. */
  syncKey: string;
}

const ChartsContext = createContext<Charts | null>(null);

/** Charts that share their zoom and their cross-hair. */
export function ChartsView({ children }: { children: ReactNode }) {
  const syncKey = useId();
  const [charts] = useState(() => ({ store: createChartsStore(), syncKey }));
  return <ChartsContext value={charts}>{children}</ChartsContext>;
}

export function useChartsView(): Charts {
  const charts = useContext(ChartsContext);
  if (!charts) throw new Error('No charts: render this inside a ChartsView.');
  return charts;
}

/** Of the view that this is in. */
export function useCharts<T>(select: (state: ChartsState) => T): T {
  return useStore(useChartsView().store, select);
}
