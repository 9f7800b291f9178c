import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { actionKind, actionOrigin, actionState, alertAction } from '../contract/echo-trap.ts';
import { humanSuccess } from '../contract/play.ts';
import { alertEvidence, keptText } from '../contract/runs.ts';
import { appendLine } from './append-line.ts';
import { runFiles } from './names.ts';
import { parseLine } from './parse-line.ts';

/** Annotations of a run by users and the app (docs/formats/annotations.md). Unknown keys and types are ignored. */

const alertId = z.string().min(1).max(64);

/** Limits the length of a value as {@link keptText} limits texts. */
const limited = <T extends z.ZodType>(part: T) =>
  part.refine((value) => keptText.safeParse(JSON.stringify(value)).success, 'is too long');

const { shape } = alertEvidence;
/** Omits an invalid value instead of rejecting the annotation. */
const lenient = <T extends z.ZodType>(part: T) => limited(part).nullish().catch(undefined);
const evidence = {
  level: lenient(shape.level),
  series: lenient(shape.series),
  value: lenient(shape.value),
  baseline: lenient(shape.baseline),
  since: lenient(shape.since),
  regime: lenient(shape.regime),
  advice: lenient(shape.advice),
};

const raised = z.looseObject({
  alert: alertId,
  state: z.literal('raised'),
  kind: z.string().max(64),
  severity: keptText,
  iteration: z.int().min(0),
  message: keptText,
  ...evidence,
});
const answered = z.looseObject({ alert: alertId, state: z.enum(['acknowledged', 'cleared']) });
const snoozed = z.looseObject({ alert: alertId, state: z.literal('snoozed'), until: z.number() });

const { id: actionId, time: _, changedAt: __, ...rest } = alertAction.shape;
const action = {
  ...rest,
  by: actionOrigin,
  kind: actionKind,
  state: actionState,
  alert: keptText.nullable(),
  fork: keptText.nullable(),
  changes: limited(rest.changes),
  message: keptText,
};

const alertStates: readonly string[] = ['raised', 'acknowledged', 'cleared', 'snoozed'];

/** Replaces line breaks, because names are shown on one line. */
const oneLine = (text: string) => text.replace(/\p{Cc}+/gu, ' ');

/** The limits are larger than those of `runs.annotate`, because a newer version may allow longer texts. */
const bodies = {
  tag: z.looseObject({ tag: keptText.min(1), present: z.boolean() }),
  note: z.looseObject({ text: keptText }),
  star: z.looseObject({ on: z.boolean() }),
  archive: z.looseObject({ on: z.boolean() }),
  name: z.looseObject({ name: keptText.transform(oneLine) }),
  cleaned: z.looseObject({ splits: z.array(z.string().max(64)), seq: z.int() }),
  alert: z.discriminatedUnion('state', [raised, answered, snoozed]),
  start_failed: z.looseObject({ code: keptText, message: keptText, hint: keptText }),
  human_success: z.looseObject({ ...humanSuccess.shape, environment: keptText }),
  rollbacks: z.looseObject({ count: z.int().min(0) }),
  action: z.looseObject({ action: actionId.min(1).max(64), ...action }),
};

type Bodies = typeof bodies;
type AnnotationType = keyof Bodies;
/** An annotation without the envelope. */
export type NewAnnotation = { [T in AnnotationType]: { type: T } & z.infer<Bodies[T]> }[AnnotationType];
export type Annotation = NewAnnotation & { time: number };

const envelope = z.looseObject({
  v: z.int(),
  id: z.string(),
  time: z.number(),
  type: z.string(),
});

export function appendAnnotation(folder: string, annotation: NewAnnotation): void {
  appendLine(join(folder, runFiles.annotations), {
    v: 1,
    id: randomUUID(),
    time: Date.now(),
    ...annotation,
  });
}

export interface AnnotationsRead {
  annotations: Annotation[];
  /** Number of invalid lines. */
  damaged: number;
  /** The file's size when it was read. */
  bytes: number;
}

/** Returns a run's annotations in order; none without a file. Ignores a truncated last line. */
export function readAnnotations(folder: string): AnnotationsRead {
  let bytes: Buffer;
  try {
    bytes = readFileSync(join(folder, runFiles.annotations));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return { annotations: [], damaged: 0, bytes: 0 };
  }
  const lines = bytes
    .toString('utf8')
    .split('\n')
    .slice(0, -1)
    .filter((line) => line !== '');
  const read = lines.map(parseAnnotation);
  const annotations = read.filter((each) => each !== null && each !== 'unknown');
  return { annotations, damaged: read.filter((each) => each === null).length, bytes: bytes.length };
}

/** Returns null for an invalid annotation: not an object, no envelope, or a known type with invalid fields. */
export function parseAnnotation(line: string): Annotation | 'unknown' | null {
  const head = parseLine(envelope, line);
  if (!head) return null;
  const { v: _, id: __, time, type, ...rest } = head;
  if (!Object.hasOwn(bodies, type)) return 'unknown';
  if (type === 'alert' && typeof rest.state === 'string' && !alertStates.includes(rest.state)) return 'unknown';
  if (type === 'action' && !isKnownAction(rest)) return 'unknown';
  const body = bodies[type as AnnotationType].safeParse(rest);
  return body.success ? ({ ...body.data, type, time } as Annotation) : null;
}

/** Returns whether this version knows the action's origin, kind and state. */
const isKnownAction = (fields: Record<string, unknown>) =>
  (['by', 'kind', 'state'] as const).every(
    (key) => typeof fields[key] !== 'string' || action[key].safeParse(fields[key]).success,
  );
