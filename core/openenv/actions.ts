import { z } from 'zod';
import { problemIn } from '../contract/issue-words.ts';

type Schema = Record<string, unknown>;
const object = z.record(z.string(), z.unknown());

/** Converts responses to actions by the server's JSON Schema. */
export class Actions {
  /** The server's actions are calls of tools. */
  readonly areTools: boolean;
  /** Names of all actions; null if any text is one. */
  readonly names: string[] | null;
  /** The field that an action consists of; null if there are several. */
  private readonly field: { name: string; schema: Schema } | null;
  private readonly required: string[];
  private readonly validator: z.ZodType | null;

  constructor(schema: Schema) {
    const { metadata: _, ...properties } = object.catch({}).parse(schema.properties);
    this.required = z.array(z.string()).catch([]).parse(schema.required);
    this.areTools = ['Action', 'CallToolAction', 'ListToolsAction'].includes(String(schema.title));
    const [name] = this.required;
    const isField = name !== undefined && this.required.length === 1 && !this.areTools;
    this.field = isField ? { name, schema: resolved(properties[name], schema) } : null;
    const values = this.field?.schema.enum;
    this.names = Array.isArray(values) && values.length > 0 ? values.map(String) : null;
    this.validator = validatorOf({ ...schema, properties });
  }

  /** Returns the action of a response, or what is wrong with it. */
  parse(text: string): { action: object } | { problem: string } {
    const body = text
      .trim()
      .replace(/^```\w*\n([\s\S]*)\n```$/, '$1')
      .trim();
    const value = parseJson(body);
    const candidates: unknown[] = [];
    if (this.areTools) {
      const { name, tool_name: tool = name, arguments: given = {} } = object.catch({}).parse(value);
      if (typeof tool !== 'string') return { problem: 'Answer with {"tool_name": ..., "arguments": {...}}.' };
      return { action: { type: 'call_tool', tool_name: tool, arguments: given } };
    }
    if (object.safeParse(value).success) candidates.push(value);
    if (this.field) candidates.push({ [this.field.name]: fieldValue(this.field.schema, body, value) });
    if (candidates.length === 0) return { problem: `Answer with a JSON object (${this.required.join(', ')}).` };
    let problem = '';
    for (const candidate of candidates) {
      const read = this.validator?.safeParse(candidate);
      if (!read || read.success) return { action: candidate as object };
      problem = `${problemIn(candidate, read.error)}.`;
    }
    return { problem };
  }
}

/** Reads the text of a field as the schema's type. */
function fieldValue({ type, enum: values }: Schema, body: string, json: unknown): unknown {
  if (Array.isArray(values)) {
    const text = (typeof json === 'string' ? json : body).toLowerCase();
    return values.find((each) => String(each).toLowerCase() === text) ?? body;
  }
  if (type === 'string') return typeof json === 'string' ? json : body;
  return json ?? body;
}

/** Follows a reference and removes `null` from alternatives. */
function resolved(property: unknown, root: Schema): Schema {
  const schema = object.catch({}).parse(property);
  if (typeof schema.$ref === 'string')
    return resolved(
      schema.$ref
        .split('/')
        .slice(1)
        .reduce<unknown>((at, key) => object.catch({}).parse(at)[key], root),
      root,
    );
  const alternatives = z
    .array(object)
    .catch([])
    .parse(schema.anyOf ?? schema.allOf);
  const [only, ...others] = alternatives.filter(({ type }) => type !== 'null');
  return only && others.length === 0 ? resolved(only, root) : schema;
}

/** Returns null for a schema with unsupported keywords; then only the server validates. */
function validatorOf(schema: Schema): z.ZodType | null {
  try {
    return z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0]);
  } catch {
    return null;
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
