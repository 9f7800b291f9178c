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
