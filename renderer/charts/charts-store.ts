import { create } from 'zustand';
import type { Zoom } from './plot.ts';

const strength = 0.7;

interface ChartsState {
  /** Weight of the moving average; 0 is off. */
  smoothing: number;
  /** Iterations shown by all charts; null for all of them. */
  zoom: Zoom | null;
  /** Iteration under the cross-hair. */
  cursor: number | null;
  toggleSmoothing: () => void;
  setZoom: (zoom: Zoom | null) => void;
  setCursor: (cursor: number | null) => void;
}

export const useCharts = create<ChartsState>()((set) => ({
  smoothing: 0,
  zoom: null,
  cursor: null,
  toggleSmoothing: () => set(({ smoothing }) => ({ smoothing: smoothing > 0 ? 0 : strength })),
  setZoom: (zoom) => set({ zoom }),
  setCursor: (cursor) => set((state) => (state.cursor === cursor ? state : { cursor })),
}));
