import protobuf from 'protobufjs/minimal.js';

/** Writes the messages of onnx.proto field by field, limited to what our graph needs. */

const { Writer } = protobuf;
type Writer = protobuf.Writer;

export type DataType = keyof typeof dataTypes;
/** TensorProto.DataType. */
const dataTypes = { float32: 1, int64: 7, float16: 10, bfloat16: 16 } as const;

/** Value of an operator's attribute. */
export type Attribute = { int: number } | { ints: readonly number[] };

export interface GraphNode {
  operator: string;
  inputs: readonly string[];
  outputs: readonly string[];
  attributes: Readonly<Record<string, Attribute>>;
}

/** A constant tensor: its bytes, or their position in a file. Little-endian, row-major. */
export interface Initializer {
  name: string;
  type: DataType;
  shape: readonly number[];
  data: Uint8Array | { file: string; offset: number; length: number };
}

/** An input or output. A named dimension can have any size, the same for all uses of the name. */
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

/** Operator set of ONNX 1.12, which all current runtimes support. */
const operatorSet = 17;
const irVersion = 8;

/** Serializes a model file. Weights in other files are referenced. */
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
  const location = { location: data.file, offset: String(data.offset), length: String(data.length) };
  for (const [key, value] of Object.entries(location)) {
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
          message(sizes, 1, (dimension) => {
            if (typeof size === 'number') dimension.uint32(tag(1, varint)).int64(size);
            else text(dimension, 2, size);
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
