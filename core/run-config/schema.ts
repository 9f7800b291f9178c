import { z } from 'zod';
import description from './description.json' with { type: 'json' };
import type { RunConfig } from './run-config.ts';

export type { EnvironmentConfig, RunConfig } from './run-config.ts';
export { configVersion } from './upgrade.ts';

/**
 * The schema of run.json, built from the trainer's description (description.json, written by `npm run describe`). Every key is required; there are no
 * defaults. Rules between keys are checked by `starpo-trainer validate`.
 */

export interface Field {
  path: string;
  type: string;
  minimum?: number;
  maximum?: number;
  choices?: string[];
  pattern?: string;
  min_length?: number;
  max_length?: number;
  /** Names files of an environment, whose digest is `environments[].files_sha256`. */
  names_files?: boolean;
}

/** Keys of an object: each is a field or a nested object. */
type Branch = Map<string, Field | Branch>;

const environmentFields: Record<string, readonly Field[]> = description.environments;

let schema: z.ZodType<RunConfig> | undefined;

/** Returns the schema. Only the first call builds it, because most commands and threads check no configuration. */
export function runConfigSchema(): z.ZodType<RunConfig> {
  schema ??= buildSchema();
  return schema;
}

function buildSchema(): z.ZodType<RunConfig> {
  // By environment type. Unknown types are rejected earlier.
  const environmentConfigs = new Map(
    Object.entries(environmentFields).map(([type, fields]) => [type, objectOf(branchOf(fields))]),
  );
  return objectOf(branchOf(description.fields)).superRefine((config, context) => {
    for (const [index, environment] of (config as RunConfig).environments.entries()) {
      const result = environmentConfigs.get(environment.type)?.safeParse(environment.config);
      for (const issue of result?.error?.issues ?? [])
        context.addIssue({ ...issue, path: ['environments', index, 'config', ...issue.path] } as never);
    }
  }) as unknown as z.ZodType<RunConfig>;
}

/** Returns the field at a path such as `environments.0.label`, or undefined. */
export function findField(path: readonly PropertyKey[], config: unknown): Field | undefined {
  const names = path.map((part) => (typeof part === 'number' ? '[]' : String(part)));
  if (names[0] === 'environments' && names[2] === 'config' && names.length > 3) {
    const type = (config as RunConfig).environments[Number(path[1])]?.type ?? '';
    return environmentFields[type]?.find((field) => field.path === names.slice(3).join('.'));
  }
  const dotted = names.join('.').replaceAll('.[]', '[]');
  return (description.fields as Field[]).find((field) => field.path === dotted);
}

/** Builds the tree of fields: `environments[].label` is at `environments`, `[]`, `label`. */
function branchOf(fields: readonly Field[]): Branch {
  const root: Branch = new Map();
  for (const field of fields) {
    const names = field.path.replaceAll('[]', '.[]').split('.');
    let branch = root;
    for (const name of names.slice(0, -1)) {
      const inner = branch.get(name);
      const next: Branch = inner instanceof Map ? inner : new Map();
      // The field of the list itself precedes the fields of its elements.
      if (inner !== undefined && !(inner instanceof Map)) next.set('', inner);
      branch.set(name, next);
      branch = next;
    }
    branch.set(names.at(-1)!, field);
  }
  return root;
}

function objectOf(branch: Branch): z.ZodType {
  return z.strictObject(
    Object.fromEntries(
      [...branch].map(([name, entry]) => [name, entry instanceof Map ? ofBranch(entry) : leaf(entry)]),
    ),
  );
}

function ofBranch(branch: Branch): z.ZodType {
  const elements = branch.get('[]');
  if (!(elements instanceof Map)) return objectOf(branch);
  const { minimum = 0, maximum = Number.MAX_SAFE_INTEGER } = branch.get('') as Field;
  return z.array(objectOf(elements)).min(minimum).max(maximum);
}

function leaf({ type, minimum = -Infinity, maximum = Infinity, choices = [], ...text }: Field): z.ZodType {
  switch (type) {
    case 'integer':
      return z.int().min(minimum).max(maximum);
    case 'number':
      return z.number().min(minimum).max(maximum);
    case 'boolean':
      return z.boolean();
    case 'choice':
      return z.enum(choices);
    case 'string':
      return textOf(text);
    default:
      return z.record(z.string(), z.unknown());
  }
}

function textOf({
  pattern,
  min_length = 0,
  max_length,
}: Pick<Field, 'pattern' | 'min_length' | 'max_length'>): z.ZodType {
  const length = (text: string) => [...text].length;
  let schema = z.string();
  if (pattern !== undefined) schema = schema.regex(new RegExp(pattern));
  if (min_length > 0) schema = schema.min(min_length);
  return max_length === undefined ? schema : schema.refine((text) => length(text) <= max_length);
}
