import protobuf from 'protobufjs/minimal.js';

/** Parts of ONNX's messages (onnx.proto), written field by field: what a graph of ours needs, and no more. */

const { Writer } = protobuf;
type Writer = protobuf.Writer;

export type DataType = keyof typeof dataTypes;
/** TensorProto.DataType. */
const dataTypes = { float32: 1, int64: 7, float16: 10, bfloat16: 16 } as const;

/** Numbers that an operator takes as attributes. */
export type Attribute = { int: number } | { ints: readonly number[] };

export interface GraphNode {
  operator: string;
  inputs: readonly string[];
  outputs: readonly string[];
  attributes: Readonly<Record<string, Attribute>>;
}

/** A tensor that is known beforehand: its bytes, or where in a file they lie. Little-endian, rows first. */
export interface Initializer {
  name: string;
  type: DataType;
  shape: readonly number[];
  data: Uint8Array | { file: string; offset: number; length: number };
}

/** An input or output; a dimension with a name is any size, the same wherever the name is. */
export interface GraphValue {
  name: string;
  type: DataType;
  shape: readonly (number | string)[];
}

export interface OnnxGraph {
  name: string;
  inputs: readonly GraphValue[];
  outputs: readonly GraphValue[];
  initializers: readonly Initializer[];
  nodes: readonly GraphNode[];
}

/** Operator set of ONNX 1.12: every current runtime has it. */
const operatorSet = 17;
const irVersion = 8;

/** A whole model file, weights that lie in other files not included. */
export function writeModel(graph: OnnxGraph, producer: { name: string; version: string }): Uint8Array {
  const writer = Writer.create();
  writer.uint32(tag(1, varint)).int64(irVersion);
  text(writer, 2, producer.name);
  text(writer, 3, producer.version);
  message(writer, 7, (inner) => writeGraph(inner, graph));
  message(writer, 8, (inner) => inner.uint32(tag(2, varint)).int64(operatorSet));
  return writer.finish();
}

function writeGraph(writer: Writer, { name, inputs, outputs, initializers, nodes }: OnnxGraph): void {
  for (const node of nodes) message(writer, 1, (inner) => writeNode(inner, node));
  text(writer, 2, name);
  for (const tensor of initializers) message(writer, 5, (inner) => writeTensor(inner, tensor));
  for (const value of inputs) message(writer, 11, (inner) => writeValue(inner, value));
  for (const value of outputs) message(writer, 12, (inner) => writeValue(inner, value));
}

function writeNode(writer: Writer, { operator, inputs, outputs, attributes }: GraphNode): void {
  for (const input of inputs) text(writer, 1, input);
  for (const output of outputs) text(writer, 2, output);
  text(writer, 4, operator);
  for (const [name, attribute] of Object.entries(attributes)) {
    message(writer, 5, (inner) => {
      text(inner, 1, name);
      if ('int' in attribute) inner.uint32(tag(3, varint)).int64(attribute.int);
      else for (const int of attribute.ints) inner.uint32(tag(8, varint)).int64(int);
      inner.uint32(tag(20, varint)).int32('int' in attribute ? 2 : 7);
    });
  }
}

function writeTensor(writer: Writer, { name, type, shape, data }: Initializer): void {
  for (const size of shape) writer.uint32(tag(1, varint)).int64(size);
  writer.uint32(tag(2, varint)).int32(dataTypes[type]);
  text(writer, 8, name);
  if (data instanceof Uint8Array) {
    writer.uint32(tag(9, delimited)).bytes(data);
    return;
  }
  const place = { location: data.file, offset: String(data.offset), length: String(data.length) };
  for (const [key, value] of Object.entries(place)) {
    message(writer, 13, (inner) => {
      text(inner, 1, key);
      text(inner, 2, value);
    });
  }
  writer.uint32(tag(14, varint)).int32(1);
}

function writeValue(writer: Writer, { name, type, shape }: GraphValue): void {
  text(writer, 1, name);
  message(writer, 2, (valueType) => {
    message(valueType, 1, (tensor) => {
      tensor.uint32(tag(1, varint)).int32(dataTypes[type]);
      message(tensor, 2, (sizes) => {
        for (const size of shape) {
          message(sizes, 1, (one) => {
            if (typeof size === 'number') one.uint32(tag(1, varint)).int64(size);
            else text(one, 2, size);
          });
        }
      });
    });
  });
}

/** Protobuf's wire types. */
const varint = 0;
const delimited = 2;
const tag = (field: number, wire: number) => (field << 3) | wire;

function text(writer: Writer, field: number, value: string): void {
  writer.uint32(tag(field, delimited)).string(value);
}

function message(writer: Writer, field: number, write: (inner: Writer) => void): void {
  writer.uint32(tag(field, delimited)).fork();
  write(writer);
  writer.ldelim();
}
