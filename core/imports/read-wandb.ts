import { fieldsOf, textOf } from './fields.ts';
import { parseJson } from './read-json.ts';
import { type InputFile, lastRowTruncated, malformed, type Table, TableBuilder } from './table.ts';

/** W&B's local files `run-ID.wandb`: LevelDB log blocks of Record messages (wandb_internal.proto). Numbers in comments are field numbers. */

const magic = ':W&B';
const headerBytes = 7;
const blockBytes = 32 << 10;

export const isWandb = (bytes: Buffer) => bytes.subarray(0, magic.length).toString('latin1') === magic;

/** Reads the history of a run and its name. Throws `import_malformed`. */
export function readWandb(file: InputFile): { name: string | null; table: Table } {
  const builder = new TableBuilder(file.name);
  let name: string | null = null;
  for (const record of recordsOf(file, builder.remarks))
    for (const field of fieldsOf(record)) {
      if (!('bytes' in field)) continue;
      // Record: history 2, run 17 with display_name 8.
      if (field.number === 2) addHistory(builder, field.bytes);
      else if (field.number === 17)
        for (const inner of fieldsOf(field.bytes))
          if (inner.number === 8 && 'bytes' in inner) name = textOf(inner.bytes);
    }
  return { name, table: builder.build() };
}

/** HistoryRecord: item 1 with key 1, nested_key 2 (repeated) and value_json 16; step 2 with num 1. */
function addHistory(builder: TableBuilder, message: Uint8Array): void {
  const row = builder.addRow();
  for (const field of fieldsOf(message)) {
    if (!('bytes' in field) || field.number !== 1) continue;
    const path: string[] = [];
    let json = '';
    for (const inner of fieldsOf(field.bytes)) {
      if (!('bytes' in inner)) continue;
      if (inner.number === 16) json = textOf(inner.bytes);
      else if (inner.number <= 2) path.push(textOf(inner.bytes));
    }
    const value = parseJson(json);
    const column = builder.column(path.join('.'));
    if (typeof value === 'number') column.add(row, value);
    else if (typeof value === 'string') column.addText(row, value);
    else if (value !== null) column.text ??= { row, text: json };
  }
}

/** Types of a chunk of a record. */
const [full, first, last] = [1, 2, 4];

/** Yields the records of a file. A chunk has a checksum (uint32), its length (uint16) and its type, and never crosses a block. */
function* recordsOf({ name, bytes }: InputFile, remarks: string[]): Generator<Uint8Array> {
  let parts: Buffer[] = [];
  for (let at = headerBytes; at < bytes.length; ) {
    const left = blockBytes - (at % blockBytes);
    if (left < headerBytes) {
      at += left;
      continue;
    }
    const from = at + headerBytes;
    const length = from <= bytes.length ? bytes.readUInt16LE(at + 4) : 0;
    // W&B writes blocks ahead, so the end of a running log is empty.
    if (from + length > bytes.length) return void remarks.push(lastRowTruncated);
    const type = bytes[at + 6]!;
    if (type === 0 && length === 0) return;
    if (type > last || from + length > at + left)
      throw malformed(name, `the chunk at byte ${at} has an unknown type or a wrong length.`);
    if (type === full || type === first) parts = [];
    parts.push(bytes.subarray(from, from + length));
    if (type === full || type === last) yield Buffer.concat(parts);
    at = from + length;
  }
}
