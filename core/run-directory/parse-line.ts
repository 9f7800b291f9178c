import type { z } from 'zod';

/** Parses one line of a JSON lines file. Returns null if it is not valid JSON or does not match the schema. */
export function parseLine<Schema extends z.ZodType>(schema: Schema, line: string): z.infer<Schema> | null {
  try {
    return schema.safeParse(JSON.parse(line)).data ?? null;
  } catch {
    return null;
  }
}
