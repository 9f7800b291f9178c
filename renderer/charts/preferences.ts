import { create } from 'zustand';
import { storedObject } from '../base/stored-object.ts';
import { type AxisKind, axisKinds } from './axes.ts';

const storageKey = 'starpo-charts';

/** The user's chart settings, stored in the browser. */
interface StoredPreferences {
  /** Weight of the moving average in [0, 1); 0 disables it. */
  smoothing: number;
  axis: AxisKind;
  /** True if the y scale ignores outliers. */
  ignoreOutliers: boolean;
  /** Ids of charts with a logarithmic scale. */
  log: string[];
  /** Ids of pinned charts, in order. */
  pins: string[];
  /** Open or closed sections, by id. */
  open: Record<string, boolean>;
  size: ChartSize;
  /** Target values of charts, by id. */
  targets: Record<string, number>;
}

export type ChartSize = 'small' | 'medium' | 'large';

interface ChartPreferences extends StoredPreferences {
  change: (changed: Partial<StoredPreferences>) => void;
  toggleLog: (chart: string) => void;
  togglePin: (chart: string) => void;
  /** Moves a pinned chart by a number of positions. */
  movePin: (chart: string, by: number) => void;
  setOpen: (section: string, open: boolean) => void;
  /** Null removes the target. */
  setTarget: (chart: string, target: number | null) => void;
}

export const defaults: StoredPreferences = {
  smoothing: 0.6,
  axis: 'iteration',
  ignoreOutliers: false,
  log: [],
  pins: [],
  open: {},
  size: 'medium',
  targets: {},
};

const toggled = (list: readonly string[], item: string) =>
  list.includes(item) ? list.filter((each) => each !== item) : [...list, item];

export const useChartPreferences = create<ChartPreferences>()((set) => ({
  ...stored(),
  change: (changed) => set(changed),
  toggleLog: (chart) => set(({ log }) => ({ log: toggled(log, chart) })),
  togglePin: (chart) => set(({ pins }) => ({ pins: toggled(pins, chart) })),
  movePin: (chart, by) =>
    set(({ pins }) => {
      const from = pins.indexOf(chart);
      const to = Math.min(pins.length - 1, Math.max(0, from + by));
      return from < 0 ? {} : { pins: pins.toSpliced(from, 1).toSpliced(to, 0, chart) };
    }),
  setOpen: (section, open) => set((state) => ({ open: { ...state.open, [section]: open } })),
  setTarget: (chart, target) =>
    set((state) => {
      const { [chart]: _, ...others } = state.targets;
      return { targets: target === null ? others : { ...others, [chart]: target } };
    }),
}));

useChartPreferences.subscribe((state) => {
  const values = Object.fromEntries(Object.keys(defaults).map((key) => [key, state[key as keyof StoredPreferences]]));
  localStorage.setItem(storageKey, JSON.stringify(values));
});

/** Reads the stored settings. Ignores invalid values, which another version may have written. */
function stored(): StoredPreferences {
  const parsed: Partial<Record<keyof StoredPreferences, unknown>> = storedObject(storageKey);
  const texts = (value: unknown) => (Array.isArray(value) ? value.filter((each) => typeof each === 'string') : []);
  const entries = (value: unknown) => Object.entries(typeof value === 'object' && value !== null ? value : {});
  const { smoothing, axis, ignoreOutliers, open, size, targets } = parsed;
  return {
    smoothing: typeof smoothing === 'number' && smoothing >= 0 && smoothing < 1 ? smoothing : defaults.smoothing,
    axis: axisKinds.find((kind) => kind === axis) ?? defaults.axis,
    ignoreOutliers: ignoreOutliers === true,
    log: texts(parsed.log),
    pins: texts(parsed.pins),
    open: Object.fromEntries(entries(open).map(([key, value]) => [key, value === true])),
    targets: Object.fromEntries(entries(targets).filter(([, value]) => Number.isFinite(value))),
    size: size === 'small' || size === 'large' ? size : defaults.size,
  };
}
