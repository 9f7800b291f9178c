import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { z } from 'zod';
import { Failure } from '../contract/failure.ts';

/** Position of a tensor in a safetensors file. `offset` is from the start of the file. */
export interface StoredTensor {
  type: 'F32' | 'F16' | 'BF16';
  shape: number[];
  offset: number;
  length: number;
  /** CRC-32 of the data in hex, recorded by StarPO Studio's trainer; null if unknown. */
  checksum: string | null;
}

const chunkBytes = 1 << 20;
const widths = { F32: 4, F16: 2, BF16: 2 };
/** The trainer has the same limit. */
const maxHeaderBytes = 100 << 20;

const entry = z.object({
  dtype: z.enum(['F32', 'F16', 'BF16']),
  shape: z.array(z.int().nonnegative()).max(8),
  data_offsets: z.tuple([z.int().nonnegative(), z.int().nonnegative()]),
});
const header = z.record(z.string(), z.unknown());
const metadata = z.record(z.string(), z.string()).catch({});

/** Reads the tensors of a safetensors file by name from its header. Throws `model_file_invalid`. */
export async function readTensors(path: string): Promise<Map<string, StoredTensor>> {
  const file = await open(path).catch((error) => {
    throw invalid(path, error.message);
  });
  try {
    const { size } = await file.stat();
    const length = Buffer.alloc(8);
    await file.read(length, 0, 8, 0);
    const headerLength = Number(length.readBigUInt64LE());
    if (size < 8 || headerLength > Math.min(size - 8, maxHeaderBytes))
      throw invalid(path, 'it is truncated or not a safetensors file');
    const text = Buffer.alloc(headerLength);
    await file.read(text, 0, headerLength, 8);
    return tensorsOf(path, text.toString('utf8'), 8 + headerLength, size);
  } finally {
    await file.close();
  }
}

/** Compares the data of tensors in a file with their checksums. Throws `model_file_invalid`. */
export async function verifyTensors(path: string, tensors: ReadonlyMap<string, StoredTensor>): Promise<void> {
  for (const [name, { offset, length, checksum }] of tensors) {
    if (checksum === null || length === 0) continue;
    let sum = 0;
    const data = createReadStream(path, { start: offset, end: offset + length - 1, highWaterMark: chunkBytes });
    for await (const chunk of data) sum = crc32(chunk, sum);
    if (sum.toString(16).padStart(8, '0') !== checksum)
      throw invalid(path, `${name} was changed after it was written: its checksum differs`);
  }
}

function tensorsOf(path: string, text: string, dataStart: number, size: number): Map<string, StoredTensor> {
  const tensors = new Map<string, StoredTensor>();
  const entries = parseHeader(path, text);
  const checksums = metadata.parse(entries.__metadata__);
  for (const [name, value] of Object.entries(entries)) {
    if (name === '__metadata__') continue;
    const read = entry.safeParse(value);
    if (!read.success) throw invalid(path, `${name} has an invalid type, shape or offset`);
    const { dtype, shape, data_offsets } = read.data;
    const [begin, end] = data_offsets;
    const length = shape.reduce((product, each) => product * each, widths[dtype]);
    if (end - begin !== length || dataStart + end > size)
      throw invalid(path, `the data of ${name} does not match its shape or the size of the file`);
    const checksum = checksums[`crc32 ${name}`] ?? null;
    tensors.set(name, { type: dtype, shape, offset: dataStart + begin, length, checksum });
  }
  return tensors;
}

function parseHeader(path: string, text: string): Record<string, unknown> {
  try {
    return header.parse(JSON.parse(text));
  } catch {
    throw invalid(path, 'its header is not a JSON object');
  }
}

function invalid(path: string, reason: string): Failure {
  return new Failure(
    'model_file_invalid',
    `Can't read ${path}: ${reason}.`,
    'Copy the file again, or choose another model or checkpoint.',
  );
}
