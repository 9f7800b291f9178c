import protobuf from 'protobufjs/minimal.js';

/** A field of a protobuf message: an integer, a fixed-size number as bytes, or bytes. */
export type Field = { number: number } & ({ value: number } | { bytes: Uint8Array });

/** Yields the fields of a protobuf message in file order. Throws on invalid messages. */
export function* fieldsOf(message: Uint8Array): Generator<Field> {
  const reader = protobuf.Reader.create(message);
  while (reader.pos < reader.len) {
    const tag = reader.uint32();
    const number = tag >>> 3;
    const [type, from] = [tag & 7, reader.pos];
    if (type === 0) yield { number, value: Number(reader.int64()) };
    else if (type === 2) yield { number, bytes: reader.bytes() };
    else {
      reader.skipType(type);
      yield { number, bytes: message.subarray(from, reader.pos) };
    }
  }
}

const text = new TextDecoder();
export const textOf = (bytes: Uint8Array) => text.decode(bytes);

export const viewOf = (bytes: Uint8Array) => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
