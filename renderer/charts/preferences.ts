import { create } from 'zustand';

const strength = 0.7;

interface ChartPreferences {
  /** Weight of the moving average; 0 is off. */
  smoothing: number;
  toggleSmoothing: () => void;
}

/** How a person likes charts, whichever they look at. */
export const useChartPreferences = create<ChartPreferences>()((set) => ({
  smoothing: 0,
  toggleSmoothing: () => set(({ smoothing }) => ({ smoothing: smoothing > 0 ? 0 : strength })),
}));
