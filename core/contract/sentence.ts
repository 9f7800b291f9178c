/** Returns `a, b and c`. */
export const listWithAnd = (words: readonly string[]): string => list(words, 'conjunction');

/** Returns `a, b or c`. */
export const listWithOr = (words: readonly string[]): string => list(words, 'disjunction');

// American English would add a comma before the last word.
const list = (words: readonly string[], type: Intl.ListFormatOptions['type']) =>
  new Intl.ListFormat('en-GB', { type }).format(words);

/**
 * Returns a clause of the trainer as a sentence: with a capital letter, unless it starts with a name such as `rollout.groups` or `seed:`, and with a
 * period at the end.
 */
export function sentence(clause: string): string {
  const text = clause.trim();
  if (text === '') return '';
  const capitalized = text.replace(/^[a-z](?=[a-z'-]*,?(\s|$))/, (letter) => letter.toUpperCase());
  return /[.!?…]["”)]?$/.test(text) ? capitalized : `${capitalized}.`;
}
