import { z } from 'zod';

/** Parameters of the monitor that all detectors share. Detectors define their own thresholds. */
export const parametersSchema = () =>
  z.strictObject({
    /** Iterations of the moving average. */
    window: z.int().min(1).max(50),
    /** Number of initial values. Their median is the baseline. */
    baseline: z.int().min(3).max(100),
    /** Consecutive iterations until a signal turns on, and off. */
    on_after: z.int().min(1).max(100),
    off_after: z.int().min(1).max(200),
    /** Hysteresis: fraction of the distance from threshold to baseline that a value must recover before the signal turns off. */
    hysteresis: z.number().min(0).max(0.9),
    /** Iterations that success must stay lost before the run counts as collapsed. */
    lost_for: z.int().min(1).max(200),
    /** Success from which a run is solved. */
    solved: z.number().min(0.5).max(1),
    /** Iterations of the trend window, and the rise between its halves, relative to the peak, above which a run still learns. */
    stalled_for: z.int().min(6).max(500),
    learning: z.number().min(0).max(0.9),
    /** Calm iterations before a warning or collapse clears. Other states need twice as many. */
    calm_for: z.int().min(1).max(200),
  });
export type Parameters = z.infer<ReturnType<typeof parametersSchema>>;

export const defaultParameters: Parameters = {
  window: 6,
  baseline: 12,
  on_after: 3,
  off_after: 2,
  hysteresis: 0.2,
  lost_for: 10,
  solved: 0.9,
  stalled_for: 40,
  learning: 0.08,
  calm_for: 25,
};
