import { z } from 'zod';

/** One of the words that this version knows, or one of a newer version's, which is let through as it is. */
export type OpenWord<Known extends string> = Known | (string & {});

/** A field that core reads and doesn't write: a newer version may have written another word there, and nothing else is hidden for that. */
export const openWord = <Known extends string>(
  _known: z.ZodType<Known>,
): z.ZodType<OpenWord<Known>, OpenWord<Known>> => z.string();

/** What this version has for a word; undefined for a word that it doesn't know. */
export const knownWord = <T>(table: Readonly<Record<string, T>>, word: string): T | undefined =>
  Object.hasOwn(table, word) ? table[word] : undefined;
