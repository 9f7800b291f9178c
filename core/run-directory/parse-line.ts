import { readFileSync } from 'node:fs';
import type { z } from 'zod';

/** Reads a JSON file. Returns null if it is missing, not valid JSON, or does not match the schema. */
export function readJsonFile<Schema extends z.ZodType>(schema: Schema, path: string): z.infer<Schema> | null {
  try {
    return schema.parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch {
    return null;
  }
}

/** Parses one line of a JSON lines file. Returns null if it is not valid JSON or does not match the schema. */
export function parseLine<Schema extends z.ZodType>(schema: Schema, line: string): z.infer<Schema> | null {
  try {
    return schema.safeParse(JSON.parse(line)).data ?? null;
  } catch {
    return null;
  }
}
