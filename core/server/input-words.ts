import { z } from 'zod';

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
    default:
      return /^must /.test(issue.message) ? issue.message : `is invalid: ${issue.message}`;
  }
}

function extent(origin: string, bound: number, or: string): string {
  if (origin === 'string') return `have ${bound} ${bound === 1 ? 'character' : 'characters'} ${or}`;
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
