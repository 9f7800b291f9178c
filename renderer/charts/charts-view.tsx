import { createContext, type ReactNode, useContext, useState } from 'react';
import { createStore, type StoreApi, useStore } from 'zustand';
import type { Zoom } from './layout.ts';

interface ChartsState {
  /** Visible range of the axis on all charts; null for the complete range. */
  zoom: Zoom | null;
  /** Position of the cross-hair. */
  cursor: number | null;
  /** Id of the chart under the pointer. */
  pointedAt: string | null;
  setZoom: (zoom: Zoom | null) => void;
  setCursor: (cursor: number | null, chart: string | null) => void;
}

type ChartsStore = StoreApi<ChartsState>;

const createChartsStore = (): ChartsStore =>
  createStore<ChartsState>()((set) => ({
    zoom: null,
    cursor: null,
    pointedAt: null,
    setZoom: (zoom) => set({ zoom }),
    setCursor: (cursor, chart) =>
      set((state) =>
        state.cursor === cursor && state.pointedAt === chart
          ? state
          : { cursor, pointedAt: cursor === null ? null : chart },
      ),
  }));

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
