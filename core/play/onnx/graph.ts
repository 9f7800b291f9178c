import type { Attribute, DataType, GraphNode, Initializer } from './message.ts';

/** A graph in the making: operators are called like functions, on names of values, and give the name of what they make. */
export class Graph {
  readonly nodes: GraphNode[] = [];
  readonly initializers: Initializer[] = [];
  private readonly constants = new Map<string, string>();

  /** Adds an operator with one output, called `as` where it is given. */
  node(
    operator: string,
    inputs: readonly string[],
    attributes: Readonly<Record<string, number | readonly number[]>> = {},
    as = `v${this.nodes.length}`,
  ): string {
    this.add(operator, inputs, [as], attributes);
    return as;
  }

  /** Two halves of a value's last dimension, which is `size` long. */
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

  /** One whole number, of no dimension. */
  int(value: number): string {
    return this.constant('int64', [], new BigInt64Array([BigInt(value)]));
  }

  /** One number, of no dimension. */
  float(value: number): string {
    return this.constant('float32', [], new Float32Array([value]));
  }

  floats(values: Float32Array): string {
    return this.constant('float32', [values.length], values);
  }

  /** The same numbers are kept once. */
  private constant(type: DataType, shape: number[], values: Float32Array | BigInt64Array): string {
    const key = `${type} [${shape}] ${values}`;
    const known = this.constants.get(key);
    if (known) return known;
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
    const written = Object.entries(attributes).map(([name, value]): [string, Attribute] => [
      name,
      typeof value === 'number' ? { int: value } : { ints: value },
    ]);
    this.nodes.push({ operator, inputs, outputs, attributes: Object.fromEntries(written) });
  }
}
