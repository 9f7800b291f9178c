import type { ApiError, FirstStepCheck, LogLine, MemoryPlan, Phase } from '../contract/contract.ts';

/** The meaning of a journal event for ingestion, UI and monitoring. Fields that do not apply are absent. */
export interface Meaning {
  /** A trainer started. Later iterations are repeated; -1 means all. */
  begins?: { after: number; pid: number; host: string };
  phase?: Phase;
  /** Whether the trainer is paused. */
  paused?: boolean;
  /** `stopReason`: the early-stop rule that ended the run, as a sentence; null otherwise. */
  ends?: { status: 'completed' | 'stopped' | 'failed'; failure: ApiError | null; stopReason: string | null };
  /** Last completed iteration. */
  iteration?: number;
  /** `notFinite`: names of metrics that were NaN or infinite. */
  metrics?: { iteration: number; values: Record<string, number>; notFinite?: string[] };
  evaluation?: { label: string; panel: string | null };
  rollout?: { iteration: number; split: string; file: string; index: string; episodes: number };
  rolloutRemoved?: { iteration: number; split: string };
  /** A checkpoint was written. */
  checkpoint?: { iteration: number };
  /** The trainer's response to a command. */
  acknowledged?: { commandId: string; accepted: boolean; message: string };
  memoryPlan?: MemoryPlan;
  firstStepCheck?: FirstStepCheck;
  line?: Pick<LogLine, 'level' | 'message'>;
}

/** Returns the metrics for detectors, with NaN for non-finite values. */
export function measured({ values, notFinite = [] }: NonNullable<Meaning['metrics']>): Record<string, number> {
  if (notFinite.length === 0) return values;
  return { ...values, ...Object.fromEntries(notFinite.map((name) => [name, Number.NaN])) };
}
