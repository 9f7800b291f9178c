import type { ApiError, LogLine, MemoryPlan, Phase } from '../contract/contract.ts';
import { type EventType, isKnownType, type JournalEvent, type KnownEvent } from './events.ts';

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

type Line = Pick<LogLine, 'level' | 'message'>;
type Body<T extends EventType> = Extract<KnownEvent, { type: T }>['body'];

const information = (message: string): Line => ({ level: 'info', message });

/** What people are told of each type of event; null: nothing, since it is seen elsewhere. */
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
    information(
      `The checkpoint of iteration ${iteration} keeps its weights alone: its optimiser state is deleted.`,
    ),
  acknowledged: null,
  paused: null,
  resumed: null,
  log: ({ level, message }) => ({ level, message }),
  stopped: ({ reason, iteration }) => information(`Ended after iteration ${iteration}: ${reason}.`),
  failed: ({ message, hint }) => ({ level: 'error', message: `${message} ${hint}`.trim() }),
};

/** Whether people are told of events of this type. */
export const isTold = (type: string): boolean => !isKnownType(type) || lines[type] !== null;

/** Letters that are shown of what an event carries which this version doesn't know. */
const shownLetters = 200;

function unknownLine(type: string, body: unknown): Line {
  const carried = JSON.stringify(body);
  const cut = carried.length > shownLetters ? `${carried.slice(0, shownLetters)}…` : carried;
  return information(`${type}: ${cut}`);
}

/** An event as it was read, or as it is kept, with its own type even where that isn't known. */
type Told = Pick<JournalEvent, 'type' | 'body'> | { type: string; body: Record<string, unknown> };

/** The one place that says what events mean. Of one that this version doesn't know people are told its type and what it carries. */
export function meaningOf(event: Told): Meaning {
  const type = event.type === 'unknown' && 'name' in event ? String(event.name) : event.type;
  if (!isKnownType(type)) return { line: unknownLine(type, event.body) };
  const line = (lines[type] as ((body: unknown) => Line) | null)?.(event.body);
  return { ...knownMeaning(event as KnownEvent), ...(line && { line }) };
}

function knownMeaning(known: KnownEvent): Meaning {
  switch (known.type) {
    case 'started': {
      const { resume, iteration, pid, host } = known.body;
      const begins = { after: resume?.iteration ?? -1, pid, host };
      return { begins, ...(iteration !== undefined && { iteration }) };
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
    case 'stopped':
      return {
        ends: { status: known.body.reason === 'completed' ? 'completed' : 'stopped', failure: null },
      };
    case 'failed': {
      const { code, message, hint } = known.body;
      return { ends: { status: 'failed', failure: { code, message, hint } } };
    }
    case 'checkpoint_state_removed':
    case 'acknowledged':
    case 'log':
      return {};
    default:
      return assertNever(known);
  }
}

function assertNever(event: never): never {
  throw new Error(`An event without a meaning: ${JSON.stringify(event)}`);
}
