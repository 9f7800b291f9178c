import { z } from 'zod';
import { checkLine, notOk, verdictSummary } from '../contract/first-step-words.ts';
import { firstStepCheck, type LogLine, memoryPlan, phase } from '../contract/runs.ts';
import { sentence } from '../contract/sentence.ts';
import type { Meaning } from './meaning.ts';
import { parseLine } from './parse-line.ts';

/** Events of the journal (docs/formats/journal.md). Unknown keys, types, phases, reasons and levels are passed through. */

const integer = z.int();

/** Drops values that are not finite numbers and keeps the others. */
export function numbersOf(values: Record<string, unknown>): Record<string, number> {
  const isNumber = (entry: [string, unknown]): entry is [string, number] => Number.isFinite(entry[1]);
  // Nearly always, all are numbers.
  for (const name in values)
    if (!Number.isFinite(values[name])) return Object.fromEntries(Object.entries(values).filter(isNumber));
  return values as Record<string, number>;
}
/** Not a `z.record`, which copies each metric. */
const metrics = z
  .custom<Record<string, unknown>>((value) => typeof value === 'object' && value !== null && !Array.isArray(value))
  .transform(numbersOf);

type Line = Pick<LogLine, 'level' | 'message'>;
const information = (message: string): Line => ({ level: 'info', message });

/** Describes an event type: its fields besides the envelope, its meaning, and its log line unless the UI shows the event elsewhere. */
function event<Shape extends z.ZodRawShape>(
  shape: Shape,
  meaning: (body: z.infer<z.ZodObject<Shape, z.core.$loose>>) => Meaning,
  line?: (body: z.infer<z.ZodObject<Shape, z.core.$loose>>) => Line,
) {
  return { schema: z.looseObject(shape), meaning, line };
}

/** Describes why a run ended. A reason of a newer version is shown as it is. */
function endText(reason: string, iteration: number, message: string | undefined): string {
  if (reason === 'completed') return `Completed after iteration ${iteration}.`;
  if (reason === 'command') return `Stopped on request after iteration ${iteration}.`;
  if (reason === 'signal') return `Stopped by a signal after iteration ${iteration}.`;
  if (reason === 'early_stop' && message) return `Stopped early after iteration ${iteration}: ${message}.`;
  return `Ended after iteration ${iteration}: ${reason}.`;
}

const events = {
  started: event(
    {
      resume: z.looseObject({ checkpoint: z.string(), iteration: integer }).nullable(),
      iteration: integer.optional(),
      pid: integer,
      host: z.string(),
      build: z.string(),
      isa: z.string(),
      device: z.string(),
      device_name: z.string().optional(),
      device_uuid: z.string().nullish(),
      threads: integer,
      iterations: integer,
      parameters: integer,
    },
    ({ resume, iteration, pid, host }) => ({
      begins: { after: resume?.iteration ?? -1, pid, host },
      ...(iteration !== undefined && { iteration }),
    }),
    ({ resume, host, device, device_name: name, isa }) =>
      information(
        `${resume ? `Resumed from iteration ${resume.iteration}` : 'Started'} on ${host} (${name ? `${device}, ${name}` : device}, ${isa}).`,
      ),
  ),
  memory_plan: event(memoryPlan.shape, (plan) => ({ memoryPlan: plan })),
  phase: event(phase.shape, ({ name, iteration, done, total }) => ({
    phase: { name, iteration, done, total },
  })),
  iteration: event(
    {
      iteration: integer,
      metrics,
      updates: z.record(z.string(), z.array(z.number())).optional().catch(undefined),
      template: z.looseObject({ text: z.string(), share: z.number() }).optional().catch(undefined),
    },
    // Only imported runs have `not_finite`.
    ({ iteration, metrics, not_finite: names }) => {
      const notFinite = Array.isArray(names) ? names.filter((name) => typeof name === 'string') : [];
      return {
        iteration,
        metrics: { iteration, values: metrics, ...(notFinite.length > 0 && { notFinite }) },
      };
    },
  ),
  first_step_check: event(
    firstStepCheck.shape,
    (check) => ({ firstStepCheck: check }),
    (check) => ({
      level: notOk(check).length > 0 ? 'warning' : 'info',
      message: `First-step check: ${[`${verdictSummary(check)}.`, ...notOk(check).map(checkLine)].join(' ')}`,
    }),
  ),
  evaluation: event(
    { iteration: integer, label: z.string(), metrics, panel: z.string().optional() },
    ({ iteration, label, metrics, panel = null }) => ({
      evaluation: { label, panel },
      metrics: { iteration, values: metrics },
    }),
  ),
  rollout: event(
    { iteration: integer, split: z.string(), file: z.string(), index: z.string(), episodes: integer },
    ({ iteration, split, file, index, episodes }) => ({
      rollout: { iteration, split, file, index, episodes },
    }),
  ),
  rollout_removed: event({ iteration: integer, split: z.string() }, ({ iteration, split }) => ({
    rolloutRemoved: { iteration, split },
  })),
  checkpoint: event({ iteration: integer, path: z.string() }, ({ iteration }) => ({
    checkpoint: { iteration },
  })),
  checkpoint_state_removed: event(
    { iteration: integer },
    () => ({}),
    ({ iteration }) => information(`Deleted the optimizer state of checkpoint ${iteration}; its weights are kept.`),
  ),
  acknowledged: event(
    { command_id: z.string(), accepted: z.boolean(), message: z.string() },
    ({ command_id: commandId, accepted, message }) => ({ acknowledged: { commandId, accepted, message } }),
  ),
  paused: event(
    { iteration: integer },
    () => ({ paused: true }),
    ({ iteration }) => information(`Paused at iteration ${iteration}.`),
  ),
  resumed: event(
    { iteration: integer },
    () => ({ paused: false }),
    ({ iteration }) => information(`Resumed after the pause at iteration ${iteration}.`),
  ),
  environment_alert: event(
    { iteration: integer, environment: z.string(), void: integer, episodes: integer, message: z.string() },
    () => ({}),
    ({ iteration, message }) => ({ level: 'warning', message: sentence(`iteration ${iteration}: ${message}`) }),
  ),
  log: event(
    { level: z.string(), message: z.string() },
    () => ({}),
    ({ level, message }) => ({ level, message }),
  ),
  stopped: event(
    // Journals of 1.0.0-beta.1 have no message.
    { reason: z.string(), iteration: integer, message: z.string().optional() },
    ({ reason, message }) => ({
      ends: {
        status: reason === 'completed' ? 'completed' : 'stopped',
        failure: null,
        stopReason: reason === 'early_stop' && message ? sentence(message) : null,
      },
    }),
    ({ reason, iteration, message }) => information(endText(reason, iteration, message)),
  ),
  failed: event(
    { code: z.string(), message: z.string(), hint: z.string(), iteration: integer.optional() },
    ({ code, message, hint }) => ({
      ends: { status: 'failed', failure: { code, message: sentence(message), hint: sentence(hint) }, stopReason: null },
    }),
    ({ message, hint }) => ({ level: 'error', message: `${sentence(message)} ${sentence(hint)}`.trim() }),
  ),
};

type Events = typeof events;
export type EventType = keyof Events;
export const eventTypes = Object.keys(events) as EventType[];
export const isKnownType = (type: string): type is EventType => Object.hasOwn(events, type);
/** Returns the fields of an event besides the envelope. */
export const eventFields = (type: EventType): string[] => Object.keys(events[type].schema.shape);
/** Returns whether events of this type have a log line. */
export const hasLogLine = (type: string): boolean => !isKnownType(type) || events[type].line !== undefined;

interface Envelope {
  v: number;
  seq: number;
  time: number;
}
/** An event of a known type. */
export type KnownEvent = {
  [T in EventType]: Envelope & { type: T; body: z.infer<Events[T]['schema']> };
}[EventType];
export type JournalEvent = KnownEvent | (Envelope & { type: 'unknown'; name: string; body: Record<string, unknown> });

const envelope = z.looseObject({ v: integer, seq: integer.min(0), time: z.number(), type: z.string() });

/** Parses a line. Returns null for an invalid event: not an object, no envelope, or a known type with invalid fields. */
export function parseEvent(line: string): JournalEvent | null {
  const head = parseLine(envelope, line);
  if (!head) return null;
  const { v, seq, time, type, ...rest } = head;
  if (!isKnownType(type)) return { v, seq, time, type: 'unknown', name: type, body: rest };
  const body = events[type].schema.safeParse(rest);
  return body.success ? ({ v, seq, time, type, body: body.data } as KnownEvent) : null;
}

/** An event as read or stored; its type may be unknown. */
type AnyEvent = Pick<JournalEvent, 'type' | 'body'> | { type: string; body: Record<string, unknown> };

/** Returns the meaning of an event. Unknown events become a log line with their type and content. */
export function meaningOf(read: AnyEvent): Meaning {
  const type = read.type === 'unknown' && 'name' in read ? String(read.name) : read.type;
  if (!isKnownType(type)) return { line: unknownLine(type, read.body) };
  const { meaning, line } = events[type] as {
    meaning: (body: unknown) => Meaning;
    line?: (body: unknown) => Line;
  };
  return { ...meaning(read.body), ...(line && { line: line(read.body) }) };
}

/** Maximum number of characters shown of an unknown event. */
const maxLength = 200;

function unknownLine(type: string, body: unknown): Line {
  const text = JSON.stringify(body);
  return information(`${type}: ${text.length > maxLength ? `${text.slice(0, maxLength)}…` : text}`);
}
