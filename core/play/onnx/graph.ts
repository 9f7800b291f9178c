import type { Attribute, DataType, GraphNode, Initializer } from './message.ts';

/** Builds a graph. Methods take and return names of values. */
export class Graph {
  readonly nodes: GraphNode[] = [];
  readonly initializers: Initializer[] = [];
  private readonly constants = new Map<string, string>();

  /** Adds an operator and returns the name of its only output. */
  node(
    operator: string,
    inputs: readonly string[],
    attributes: Readonly<Record<string, number | readonly number[]>> = {},
    output = `v${this.nodes.length}`,
  ): string {
    this.add(operator, inputs, [output], attributes);
    return output;
  }

  /** Splits a value into two halves along its last dimension of length `size`. */
  halves(value: string, size: number): [string, string] {
    const name = `v${this.nodes.length}`;
    const outputs: [string, string] = [`${name}a`, `${name}b`];
    this.add('Split', [value, this.ints([size / 2, size / 2])], outputs, { axis: -1 });
    return outputs;
  }

  ints(values: readonly number[]): string {
    const bytes = new BigInt64Array(values.map(BigInt));
    return this.constant('int64', [values.length], bytes);
  }

  /** Adds an int64 scalar. */
  int(value: number): string {
    return this.constant('int64', [], new BigInt64Array([BigInt(value)]));
  }

  /** Adds a float32 scalar. */
  float(value: number): string {
    return this.constant('float32', [], new Float32Array([value]));
  }

  floats(values: Float32Array): string {
    return this.constant('float32', [values.length], values);
  }

  /** Adds a constant, or returns an equal one. */
  private constant(type: DataType, shape: number[], values: Float32Array | BigInt64Array): string {
    const key = `${type} [${shape}] ${values}`;
    const existing = this.constants.get(key);
    if (existing) return existing;
    const name = `c${this.constants.size}`;
    const data = new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
    this.initializers.push({ name, type, shape, data });
    this.constants.set(key, name);
    return name;
  }

  private add(
    operator: string,
    inputs: readonly string[],
    outputs: readonly string[],
    attributes: Readonly<Record<string, number | readonly number[]>>,
  ): void {
    const encoded = Object.entries(attributes).map(([name, value]): [string, Attribute] => [
      name,
      typeof value === 'number' ? { int: value } : { ints: value },
    ]);
    this.nodes.push({ operator, inputs, outputs, attributes: Object.fromEntries(encoded) });
  }
}
