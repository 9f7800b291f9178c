import type { ApiError, LogLine, MemoryPlan, Phase } from '../contract/contract.ts';
import { type EventType, isKnownType, type JournalEvent, type KnownEvent } from './events.ts';

/** The meaning of a journal event for ingestion, UI and monitoring. Fields that do not apply are absent. */
export interface Meaning {
  /** A trainer started. Later iterations are repeated; -1 means all. */
  begins?: { after: number; pid: number; host: string };
  phase?: Phase;
  /** Whether the trainer is paused. */
  paused?: boolean;
  ends?: { status: 'completed' | 'stopped' | 'failed'; failure: ApiError | null };
  /** Last completed iteration. */
  iteration?: number;
  /** `notFinite`: names of metrics that were NaN or infinite. */
  metrics?: { iteration: number; values: Record<string, number>; notFinite?: string[] };
  evaluation?: { label: string };
  rollout?: { iteration: number; split: string; file: string; index: string; episodes: number };
  rolloutRemoved?: { iteration: number; split: string };
  /** A checkpoint was written. */
  checkpoint?: { iteration: number };
  /** The trainer's response to a command. */
  acknowledged?: { commandId: string; accepted: boolean; message: string };
  memoryPlan?: MemoryPlan;
  line?: Pick<LogLine, 'level' | 'message'>;
}

/** Returns the metrics for detectors, with NaN for non-finite values. */
export function measured({
  values,
  notFinite = [],
}: NonNullable<Meaning['metrics']>): Record<string, number> {
  return { ...values, ...Object.fromEntries(notFinite.map((name) => [name, Number.NaN])) };
}

type Line = Pick<LogLine, 'level' | 'message'>;
type Body<T extends EventType> = Extract<KnownEvent, { type: T }>['body'];

const information = (message: string): Line => ({ level: 'info', message });

/** Log line per event type; null if the UI shows the event elsewhere. */
const lines: { [T in EventType]: ((body: Body<T>) => Line) | null } = {
  started: ({ resume, host, device, device_name: name, isa }) =>
    information(
      `${resume ? `Resumed from iteration ${resume.iteration}` : 'Started'} on ${host} (${name ? `${device}, ${name}` : device}, ${isa}).`,
    ),
  memory_plan: null,
  phase: null,
  iteration: null,
  evaluation: null,
  rollout: null,
  rollout_removed: null,
  checkpoint: null,
  checkpoint_state_removed: ({ iteration }) =>
    information(`Deleted the optimizer state of checkpoint ${iteration}; its weights are kept.`),
  acknowledged: null,
  paused: null,
  resumed: null,
  log: ({ level, message }) => ({ level, message }),
  stopped: ({ reason, iteration }) => information(`Ended after iteration ${iteration}: ${reason}.`),
  failed: ({ message, hint }) => ({ level: 'error', message: `${message} ${hint}`.trim() }),
};

/** Returns whether events of this type have a log line. */
export const hasLogLine = (type: string): boolean => !isKnownType(type) || lines[type] !== null;

/** Maximum number of characters shown of an unknown event. */
const maxLength = 200;

function unknownLine(type: string, body: unknown): Line {
  const text = JSON.stringify(body);
  return information(`${type}: ${text.length > maxLength ? `${text.slice(0, maxLength)}…` : text}`);
}

/** An event as read or stored; its type may be unknown. */
type AnyEvent = Pick<JournalEvent, 'type' | 'body'> | { type: string; body: Record<string, unknown> };

/** Returns the meaning of an event. Unknown events become a log line with their type and content. */
export function meaningOf(event: AnyEvent): Meaning {
  const type = event.type === 'unknown' && 'name' in event ? String(event.name) : event.type;
  if (!isKnownType(type)) return { line: unknownLine(type, event.body) };
  const line = (lines[type] as ((body: unknown) => Line) | null)?.(event.body);
  return { ...knownMeaning(event as KnownEvent), ...(line && { line }) };
}

function knownMeaning(event: KnownEvent): Meaning {
  switch (event.type) {
    case 'started': {
      const { resume, iteration, pid, host } = event.body;
      const begins = { after: resume?.iteration ?? -1, pid, host };
      return { begins, ...(iteration !== undefined && { iteration }) };
    }
    case 'phase': {
      const { name, iteration, done, total } = event.body;
      return { phase: { name, iteration, done, total } };
    }
    case 'iteration': {
      const { iteration, metrics, not_finite: names } = event.body;
      const notFinite = Array.isArray(names) ? names.filter((name) => typeof name === 'string') : [];
      return {
        iteration,
        metrics: { iteration, values: metrics, ...(notFinite.length > 0 && { notFinite }) },
      };
    }
    case 'evaluation': {
      const { iteration, label, metrics } = event.body;
      return { evaluation: { label }, metrics: { iteration, values: metrics } };
    }
    case 'rollout': {
      const { iteration, split, file, index, episodes } = event.body;
      return { rollout: { iteration, split, file, index, episodes } };
    }
    case 'rollout_removed': {
      const { iteration, split } = event.body;
      return { rolloutRemoved: { iteration, split } };
    }
    case 'checkpoint':
      return { checkpoint: { iteration: event.body.iteration } };
    case 'memory_plan':
      return { memoryPlan: event.body };
    case 'paused':
      return { paused: true };
    case 'resumed':
      return { paused: false };
    case 'stopped':
      return {
        ends: { status: event.body.reason === 'completed' ? 'completed' : 'stopped', failure: null },
      };
    case 'failed': {
      const { code, message, hint } = event.body;
      return { ends: { status: 'failed', failure: { code, message, hint } } };
    }
    case 'acknowledged': {
      const { command_id: commandId, accepted, message } = event.body;
      return { acknowledged: { commandId, accepted, message } };
    }
    case 'checkpoint_state_removed':
    case 'log':
      return {};
    default:
      return assertNever(event);
  }
}

function assertNever(event: never): never {
  throw new Error(`An event without a meaning: ${JSON.stringify(event)}`);
}
