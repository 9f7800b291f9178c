/** TFRecord files, the container of TensorBoard's event files (tensorflow/core/lib/io/record_writer.h). */

/** CRC-32C (Castagnoli), reflected. */
const crcTable = Uint32Array.from({ length: 256 }, (_, index) => {
  let crc = index;
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0x82f63b78 : crc >>> 1;
  return crc;
});

function crc32c(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) crc = crcTable[(crc ^ byte) & 0xff]! ^ (crc >>> 8);
  return (crc ^ 0xffffffff) >>> 0;
}

/** Returns the masked checksum of TFRecords: rotated right by 15 bits, plus a constant. */
function maskedCrc(bytes: Uint8Array): number {
  const crc = crc32c(bytes);
  return (((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0;
}

/** Bytes before the data (length as uint64, and its checksum) and after it (checksum of the data), little-endian. */
const [before, after] = [12, 4];

/** Returns a record with the given data. */
export function tfRecord(data: Uint8Array): Uint8Array {
  const record = new Uint8Array(before + data.length + after);
  const view = new DataView(record.buffer);
  view.setBigUint64(0, BigInt(data.length), true);
  view.setUint32(8, maskedCrc(record.subarray(0, 8)), true);
  record.set(data, before);
  view.setUint32(before + data.length, maskedCrc(data), true);
  return record;
}

/** Returns whether a file begins with a record. */
export const isTfRecord = (bytes: Buffer) =>
  bytes.length >= before && bytes.readUInt32LE(8) === maskedCrc(bytes.subarray(0, 8));

/** Yields the data of each record. At the end, or where the rest is `truncated` or `damaged`, returns that position with the state. */
export function* readTfRecords(
  bytes: Buffer,
): Generator<Uint8Array, { state: 'complete' | 'truncated' | 'damaged'; at: number }> {
  let at = 0;
  while (at < bytes.length) {
    const rest = bytes.subarray(at);
    if (rest.length < before) return { state: 'truncated', at };
    if (!isTfRecord(rest)) return { state: 'damaged', at };
    const length = Number(rest.readBigUInt64LE(0));
    if (rest.length < before + length + after) return { state: 'truncated', at };
    const data = rest.subarray(before, before + length);
    if (rest.readUInt32LE(before + length) !== maskedCrc(data)) return { state: 'damaged', at };
    yield data;
    at += before + length + after;
  }
  return { state: 'complete', at };
}
