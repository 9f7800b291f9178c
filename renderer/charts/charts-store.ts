import { createStore, type StoreApi } from 'zustand';
import type { Zoom } from './layout.ts';

export interface ChartsState {
  /** Visible range of the axis on all charts; null for the complete range. */
  zoom: Zoom | null;
  /** Position of the cross-hair. */
  cursor: number | null;
  /** Id of the chart under the pointer. */
  pointedAt: string | null;
  setZoom: (zoom: Zoom | null) => void;
  setCursor: (cursor: number | null, chart: string | null) => void;
}

export type ChartsStore = StoreApi<ChartsState>;

/** Creates the state that all charts of a view share. */
export const createChartsStore = (): ChartsStore =>
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
