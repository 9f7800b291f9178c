import { readTfRecords } from '../base/tf-record.ts';
import { count } from '../contract/numbers.ts';
import { fieldsOf, textOf, viewOf } from './fields.ts';
import { type InputFile, lastRowTruncated, malformed, type Table, TableBuilder } from './table.ts';

/**
 * Reads the scalars in TensorBoard event files of one folder, oldest first. Numbers in comments are field numbers of Event, Summary.Value and
 * TensorProto. Throws `import_malformed` if a checksum is wrong.
 */
export function readTensorBoard(files: readonly InputFile[]): Table {
  const events = files.flatMap((file) => readEvents(file));
  const restarts = events.flatMap(({ restart, step }, index) => (restart ? { step, index } : []));
  // TensorBoard drops what was logged for later steps before training resumed.
  const kept = events.filter(({ step }, index) => !restarts.some((each) => each.index > index && each.step <= step));
  const builder = new TableBuilder(files[0]!.name);
  let other = 0;
  for (const { step, time, scalars, skipped } of kept) {
    other += skipped;
    if (scalars.length === 0) continue;
    const row = builder.rowOf(step, 'wall_time', time);
    for (const { tag, value } of scalars) builder.column(tag).add(row, value);
  }
  if (files.some((file) => truncated.has(file))) builder.remarks.push(lastRowTruncated);
  if (other > 0)
    builder.remarks.push(
      `${count(other, 'value')} skipped: texts, images, histograms and others that are not scalars.`,
    );
  return builder.build();
}

interface LoggedEvent {
  step: number;
  /** Seconds since the epoch. */
  time: number;
  scalars: { tag: string; value: number }[];
  /** Number of values that aren't scalars. */
  skipped: number;
  restart: boolean;
}

/** Files whose last record is incomplete, because they were copied during training. */
const truncated = new WeakSet<InputFile>();

function readEvents(file: InputFile): LoggedEvent[] {
  const events: LoggedEvent[] = [];
  const records = readTfRecords(file.bytes);
  for (;;) {
    const { value, done } = records.next();
    if (!done) {
      events.push(eventOf(value));
      continue;
    }
    if (value.state === 'damaged')
      throw malformed(file.name, `the record at byte ${value.at} doesn't match its checksum.`);
    if (value.state === 'truncated') truncated.add(file);
    return events;
  }
}

/** Event: wall_time 1, step 2, summary 5 with value 1, session_log 7 with status 1 = START 1. */
function eventOf(message: Uint8Array): LoggedEvent {
  const event: LoggedEvent = { step: 0, time: 0, scalars: [], skipped: 0, restart: false };
  for (const field of fieldsOf(message)) {
    if ('value' in field) {
      if (field.number === 2) event.step = field.value;
    } else if (field.number === 1) event.time = viewOf(field.bytes).getFloat64(0, true);
    else if (field.number === 5)
      for (const inner of fieldsOf(field.bytes)) {
        if (inner.number !== 1 || !('bytes' in inner)) continue;
        const scalar = scalarOf(inner.bytes);
        if (scalar) event.scalars.push(scalar);
        else event.skipped += 1;
      }
    else if (field.number === 7)
      event.restart = [...fieldsOf(field.bytes)].some(
        (inner) => 'value' in inner && inner.number === 1 && inner.value === 1,
      );
  }
  return event;
}

/** Summary.Value: tag 1, simple_value 2, tensor 8, metadata 9 with plugin_data 1 with plugin_name 1. Returns null if it isn't a scalar. */
function scalarOf(message: Uint8Array): { tag: string; value: number } | null {
  let tag = '';
  let value: number | null = null;
  let plugin = '';
  for (const field of fieldsOf(message)) {
    if (!('bytes' in field)) continue;
    if (field.number === 1) tag = textOf(field.bytes);
    else if (field.number === 2) value = viewOf(field.bytes).getFloat32(0, true);
    else if (field.number === 8) value = tensorOf(field.bytes);
    else if (field.number === 9) plugin = textIn(bytesIn(field.bytes, 1), 1);
  }
  return value === null || tag === '' || (plugin !== '' && plugin !== 'scalars') ? null : { tag, value };
}

const [float, double] = [1, 2];

/** TensorProto of a single number: dtype 1, tensor_content 4, float_val 5, double_val 6. Returns null for other tensors. */
function tensorOf(message: Uint8Array): number | null {
  let type = 0;
  let content: Uint8Array | null = null;
  for (const field of fieldsOf(message)) {
    if ('value' in field) {
      if (field.number === 1) type = field.value;
    } else if ([4, 5, 6].includes(field.number)) content = field.bytes;
  }
  if (type === float && content?.length === 4) return viewOf(content).getFloat32(0, true);
  if (type === double && content?.length === 8) return viewOf(content).getFloat64(0, true);
  return null;
}

function bytesIn(message: Uint8Array, number: number): Uint8Array {
  for (const field of fieldsOf(message)) if (field.number === number && 'bytes' in field) return field.bytes;
  return new Uint8Array();
}

const textIn = (message: Uint8Array, number: number) => textOf(bytesIn(message, number));
