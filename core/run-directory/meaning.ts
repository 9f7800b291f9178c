import type { ApiError, LogLine, MemoryPlan, Phase } from '../contract/contract.ts';
import type { JournalEvent } from './events.ts';

/** What an event of the journal means to whoever keeps, shows or watches runs; what it says nothing of is left out. */
export interface Meaning {
  /** A trainer has started: what came after this iteration is done again, all of it where that is -1. */
  begins?: { after: number; pid: number; host: string };
  phase?: Phase;
  /** Whether the trainer waits, or goes on. */
  paused?: boolean;
  ends?: { status: 'completed' | 'stopped' | 'failed'; failure: ApiError | null };
  /** Last complete iteration. */
  iteration?: number;
  /** `notFinite`: names of metrics that were measured, and NaN or infinite, where that is known. */
  metrics?: { iteration: number; values: Record<string, number>; notFinite?: string[] };
  evaluation?: { label: string };
  rollout?: { iteration: number; split: string; file: string; index: string; episodes: number };
  rolloutRemoved?: { iteration: number; split: string };
  /** One was written. */
  checkpoint?: { iteration: number };
  memoryPlan?: MemoryPlan;
  line?: Pick<LogLine, 'level' | 'message'>;
}

/** What was measured, with NaN for what wasn't finite: as detectors take it. */
export function measured({
  values,
  notFinite = [],
}: NonNullable<Meaning['metrics']>): Record<string, number> {
  return { ...values, ...Object.fromEntries(notFinite.map((name) => [name, Number.NaN])) };
}

/** The one place that says what events mean. An event that this version doesn't know is kept and means nothing. */
export function meaningOf(event: Pick<JournalEvent, 'type' | 'body'>): Meaning {
  const known = event as JournalEvent;
  switch (known.type) {
    case 'started': {
      const { resume, iteration, pid, host, device, device_name: name, isa } = known.body;
      const from = resume ? `Resumed from iteration ${resume.iteration}` : 'Started';
      const message = `${from} on ${host} (${name ? `${device}, ${name}` : device}, ${isa}).`;
      const begins = { after: resume?.iteration ?? -1, pid, host };
      return { begins, ...(iteration !== undefined && { iteration }), line: { level: 'info', message } };
    }
    case 'phase': {
      const { name, iteration, done, total } = known.body;
      return { phase: { name, iteration, done, total } };
    }
    case 'iteration': {
      const { iteration, metrics, not_finite: names } = known.body;
      const notFinite = Array.isArray(names) ? names.filter((name) => typeof name === 'string') : [];
      return {
        iteration,
        metrics: { iteration, values: metrics, ...(notFinite.length > 0 && { notFinite }) },
      };
    }
    case 'evaluation': {
      const { iteration, label, metrics } = known.body;
      return { evaluation: { label }, metrics: { iteration, values: metrics } };
    }
    case 'rollout': {
      const { iteration, split, file, index, episodes } = known.body;
      return { rollout: { iteration, split, file, index, episodes } };
    }
    case 'rollout_removed': {
      const { iteration, split } = known.body;
      return { rolloutRemoved: { iteration, split } };
    }
    case 'checkpoint':
      return { checkpoint: { iteration: known.body.iteration } };
    case 'memory_plan':
      return { memoryPlan: known.body };
    case 'paused':
      return { paused: true };
    case 'resumed':
      return { paused: false };
    case 'log':
      return { line: { level: known.body.level, message: known.body.message } };
    case 'stopped': {
      const { reason, iteration } = known.body;
      return {
        ends: { status: reason === 'completed' ? 'completed' : 'stopped', failure: null },
        line: { level: 'info', message: `Ended after iteration ${iteration}: ${reason}.` },
      };
    }
    case 'failed': {
      const { code, message, hint } = known.body;
      return {
        ends: { status: 'failed', failure: { code, message, hint } },
        line: { level: 'error', message: `${message} ${hint}`.trim() },
      };
    }
    case 'checkpoint_state_removed':
    case 'acknowledged':
    case 'unknown':
      return {};
    default:
      return assertNever(known);
  }
}

function assertNever(event: never): never {
  throw new Error(`An event without a meaning: ${JSON.stringify(event)}`);
}
