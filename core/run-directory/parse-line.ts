import { readFileSync } from 'node:fs';
import type { z } from 'zod';
import { asFileFailure, messageOf } from '../contract/failure.ts';
import { fileReason } from '../contract/file-errors.ts';
import { parseJson } from '../contract/parse-json.ts';

/** Reads a JSON file. Returns null if it is missing, not valid JSON, or does not match the schema. */
export function readJsonFile<Schema extends z.ZodType>(schema: Schema, path: string): z.infer<Schema> | null {
  try {
    return schema.parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch {
    return null;
  }
}

/** Reads a JSON file. Throws an error whose message completes "FILE ...": "can't be read: file not found", "is empty", "is not valid JSON: it ends too early". */
export function requireJsonFile(path: string): unknown {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if (!asFileFailure(error)) throw error;
    throw new Error(`can't be read: ${fileReason(error)}`);
  }
  if (text.trim() === '') throw new Error('is empty');
  try {
    return parseJson(text);
  } catch (error) {
    throw new Error(`is not valid JSON: ${messageOf(error)}`);
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
