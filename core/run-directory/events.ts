import { z } from 'zod';
import { memoryPlan, phase } from '../contract/runs.ts';
import { parseLine } from './parse-line.ts';

/** Events of the journal (docs/formats/journal.md). Unknown keys, types, phases, reasons and levels are passed through. */

const integer = z.number().int();

/** Drops values that are not finite numbers and keeps the others. */
export const numbersOf = (values: Record<string, unknown>): Record<string, number> =>
  Object.fromEntries(
    Object.entries(values).filter((entry): entry is [string, number] => Number.isFinite(entry[1])),
  );
const metrics = z.record(z.string(), z.unknown()).transform(numbersOf);

const bodies = {
  started: z.looseObject({
    resume: z.looseObject({ checkpoint: z.string(), iteration: integer }).nullable(),
    iteration: integer.optional(),
    pid: integer,
    host: z.string(),
    build: z.string(),
    isa: z.string(),
    device: z.string(),
    device_name: z.string().optional(),
    threads: integer,
    iterations: integer,
    parameters: integer,
  }),
  memory_plan: z.looseObject(memoryPlan.shape),
  phase: z.looseObject(phase.shape),
  iteration: z.looseObject({
    iteration: integer,
    metrics,
    updates: z.record(z.string(), z.array(z.number())).optional().catch(undefined),
    template: z.looseObject({ text: z.string(), share: z.number() }).optional().catch(undefined),
  }),
  evaluation: z.looseObject({ iteration: integer, label: z.string(), metrics }),
  rollout: z.looseObject({
    iteration: integer,
    split: z.string(),
    file: z.string(),
    index: z.string(),
    episodes: integer,
  }),
  rollout_removed: z.looseObject({ iteration: integer, split: z.string() }),
  checkpoint: z.looseObject({ iteration: integer, path: z.string() }),
  checkpoint_state_removed: z.looseObject({ iteration: integer }),
  acknowledged: z.looseObject({ command_id: z.string(), accepted: z.boolean(), message: z.string() }),
  paused: z.looseObject({ iteration: integer }),
  resumed: z.looseObject({ iteration: integer }),
  log: z.looseObject({ level: z.string(), message: z.string() }),
  stopped: z.looseObject({ reason: z.string(), iteration: integer }),
  failed: z.looseObject({
    code: z.string(),
    message: z.string(),
    hint: z.string(),
    iteration: integer.optional(),
  }),
};

type Bodies = typeof bodies;
export type EventType = keyof Bodies;
export const eventTypes = Object.keys(bodies) as EventType[];
export const isKnownType = (type: string): type is EventType => Object.hasOwn(bodies, type);
/** Fields of an event besides the envelope. */
export const eventFields = (type: EventType): string[] => Object.keys(bodies[type].shape);

interface Envelope {
  v: number;
  seq: number;
  time: number;
}
/** An event of a known type. */
export type KnownEvent = { [T in EventType]: Envelope & { type: T; body: z.infer<Bodies[T]> } }[EventType];
export type JournalEvent =
  | KnownEvent
  | (Envelope & { type: 'unknown'; name: string; body: Record<string, unknown> });

const envelope = z.looseObject({ v: integer, seq: integer.min(0), time: z.number(), type: z.string() });

/** Parses a line. Returns null for an invalid event: not an object, no envelope, or a known type with invalid fields. */
export function parseEvent(line: string): JournalEvent | null {
  const head = parseLine(envelope, line);
  if (!head) return null;
  const { v, seq, time, type, ...rest } = head;
  if (!isKnownType(type)) return { v, seq, time, type: 'unknown', name: type, body: rest };
  const body = bodies[type].safeParse(rest);
  return body.success ? ({ v, seq, time, type, body: body.data } as KnownEvent) : null;
}
