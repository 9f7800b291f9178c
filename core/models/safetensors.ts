import { open } from 'node:fs/promises';
import { z } from 'zod';
import { Failure } from '../contract/failure.ts';

/** Position of a tensor in a safetensors file. `offset` is from the start of the file. */
export interface StoredTensor {
  type: 'F32' | 'F16' | 'BF16';
  shape: number[];
  offset: number;
  length: number;
}

const widths = { F32: 4, F16: 2, BF16: 2 };
/** The trainer has the same limit. */
const maxHeaderBytes = 100 << 20;

const entry = z.object({
  dtype: z.enum(['F32', 'F16', 'BF16']),
  shape: z.array(z.number().int().nonnegative()).max(8),
  data_offsets: z.tuple([z.number().int().nonnegative(), z.number().int().nonnegative()]),
});
const header = z.record(z.string(), z.unknown());

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
    if (size < 8 || headerLength > Math.min(size - 8, maxHeaderBytes)) throw invalid(path, 'its header is truncated');
    const text = Buffer.alloc(headerLength);
    await file.read(text, 0, headerLength, 8);
    return tensorsOf(path, text.toString('utf8'), 8 + headerLength, size);
  } finally {
    await file.close();
  }
}

function tensorsOf(path: string, text: string, dataStart: number, size: number): Map<string, StoredTensor> {
  const tensors = new Map<string, StoredTensor>();
  for (const [name, value] of Object.entries(parseHeader(path, text))) {
    if (name === '__metadata__') continue;
    const read = entry.safeParse(value);
    if (!read.success) throw invalid(path, `${name} has an invalid type, shape or offset`);
    const { dtype, shape, data_offsets } = read.data;
    const [begin, end] = data_offsets;
    const length = shape.reduce((product, each) => product * each, widths[dtype]);
    if (end - begin !== length || dataStart + end > size)
      throw invalid(path, `the data of ${name} does not match its shape or the size of the file`);
    tensors.set(name, { type: dtype, shape, offset: dataStart + begin, length });
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
    `Cannot read ${path}: ${reason}.`,
    'Choose another checkpoint, or copy the file again.',
  );
}
