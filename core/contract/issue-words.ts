import { z } from 'zod';
import { count } from './numbers.ts';
import { listWithOr } from './sentence.ts';

/** Describes the first problem of a value that does not match its schema: `points.0.set is missing (and 2 more problems)`. */
export function problemIn(value: unknown, { issues }: z.ZodError): string {
  const issue = issues[0]!;
  const more = issues.length - 1;
  const found = issue.path.reduce<unknown>((inner, key) => (inner as Record<PropertyKey, unknown>)?.[key], value);
  const isMissing = issue.path.length > 0 && found === undefined && issue.code !== 'custom';
  const words = isMissing ? 'is missing' : issueInWords(issue);
  const others = more > 0 ? ` (and ${count(more, 'more problem')})` : '';
  return `${issue.path.map(String).join('.') || 'it'} ${words}${others}`;
}

/** Describes a validation issue as a phrase that follows the field name: `must be 1 or more`. */
export function issueInWords(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'too_small':
      return `must ${extent(issue.origin, Number(issue.minimum), 'or more')}`;
    case 'too_big':
      return `must ${extent(issue.origin, Number(issue.maximum), 'or less')}`;
    case 'invalid_type':
      return `must be ${kinds[issue.expected] ?? issue.expected}`;
    case 'invalid_value':
      return `must be one of ${issue.values.map(String).join(', ')}`;
    case 'unrecognized_keys':
      return `has unknown fields: ${issue.keys.join(', ')}`;
    case 'invalid_union':
      return formsInWords(issue.errors.flatMap(([first]) => first ?? []));
    default:
      return /^must /.test(issue.message) ? issue.message : `is invalid: ${issue.message}`;
  }
}

/** Describes what a value needs to have one of the forms of a union, by the first issue of each form. */
function formsInWords(issues: readonly z.core.$ZodIssue[]): string {
  const inside = issues.filter(({ path }) => path.length > 0);
  if (inside.length === 0)
    return `must be ${anyOf(issues.map((issue) => issueInWords(issue).replace(/^must be /, '')))}`;
  // A form with `undefined` excludes a field of another form.
  const fields = inside.filter((issue) => !(issue.code === 'invalid_type' && issue.expected === 'undefined'));
  const present = fields.find(({ message }) => !message.endsWith('received undefined'));
  if (present) return `is invalid: ${present.path.join('.')} ${issueInWords(present)}`;
  return `must have ${anyOf(fields.map(({ path }) => path.join('.')))}`;
}

const anyOf = (words: readonly string[]): string => listWithOr([...new Set(words)]);

function extent(origin: string, bound: number, or: string): string {
  if (origin === 'string') return `have ${count(bound, 'character')} ${or}`;
  if (origin === 'array') return `have ${bound} ${bound === 1 ? 'entry' : 'entries'} ${or}`;
  return `be ${bound} ${or}`;
}

const kinds: Record<string, string> = {
  int: 'a whole number',
  number: 'a number',
  string: 'a string',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
};

/** Returns the field names of an input schema, including those of unions and intersections. */
export function fieldsOf(input: unknown): string[] {
  if (input instanceof z.ZodObject) return Object.keys(input.shape);
  if (input instanceof z.ZodIntersection) return [...new Set([input.def.left, input.def.right].flatMap(fieldsOf))];
  if (input instanceof z.ZodUnion) return [...new Set(input.options.flatMap(fieldsOf))];
  return [];
}
