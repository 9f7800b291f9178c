import { z } from 'zod';

/** A known value, or an unknown value written by a newer version. */
export type OpenWord<Known extends string> = Known | (string & {});

/** Returns the schema of a field that a newer version may have written with an unknown value. It accepts any string, so that the rest of the object stays readable. */
export const openWord = <Known extends string>(_known: z.ZodType<Known>): z.ZodType<OpenWord<Known>, OpenWord<Known>> =>
  z.string();

/** Looks a value up in a table; undefined if the value is unknown. */
export const knownWord = <T>(table: Readonly<Record<string, T>>, word: string): T | undefined =>
  Object.hasOwn(table, word) ? table[word] : undefined;
