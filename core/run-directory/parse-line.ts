import type { z } from 'zod';

/** One line of a JSON lines file as a schema has it; null where it is no JSON or not of that form. */
export function parseLine<Schema extends z.ZodType>(schema: Schema, line: string): z.infer<Schema> | null {
  try {
    return schema.safeParse(JSON.parse(line)).data ?? null;
  } catch {
    return null;
  }
}
