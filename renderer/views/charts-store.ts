import { createStore, type StoreApi } from 'zustand';
import type { Zoom } from '../charts/plot.ts';

export interface ChartsState {
  /** Iterations shown by all charts; null for all of them. */
  zoom: Zoom | null;
  /** Iteration under the cross-hair. */
  cursor: number | null;
  setZoom: (zoom: Zoom | null) => void;
  setCursor: (cursor: number | null) => void;
}

export type ChartsStore = StoreApi<ChartsState>;

/** What the charts of a view have in common. */
export const createChartsStore = (): ChartsStore =>
  createStore<ChartsState>()((set) => ({
    zoom: null,
    cursor: null,
    setZoom: (zoom) => set({ zoom }),
    setCursor: (cursor) => set((state) => (state.cursor === cursor ? state : { cursor })),
  }));
