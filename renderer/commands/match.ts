/** Texts of an item that the palette searches. */
export interface Searched {
  label: string;
  /** Other words that find the item, such as an id or tags. */
  keywords?: string;
}

/** Scores of a word's match; higher is better. */
const scores = { start: 8, word: 6, inside: 4, initials: 3, keyword: 2 };

/** Returns how well the item matches all words of a query, or null if a word doesn't match. */
export function matchScore(query: string, { label, keywords = '' }: Searched): number | null {
  const text = label.toLowerCase();
  let total = 0;
  const others = keywords.toLowerCase();
  for (const word of query.toLowerCase().split(/\s+/).filter(Boolean)) {
    const score = scoreOf(word, text) ?? (others.includes(word) ? scores.keyword : null);
    if (score === null) return null;
    total += score;
  }
  return total;
}

/** Scores the start of the label, then the start of a word, then any part, then initials such as `lr`. */
function scoreOf(word: string, text: string): number | null {
  if (text.startsWith(word)) return scores.start;
  const words = text.split(/[^\p{L}\p{N}]+/u).filter(Boolean);
  if (words.some((each) => each.startsWith(word))) return scores.word;
  if (text.includes(word)) return scores.inside;
  if (
    word.length > 1 &&
    words
      .map(([first]) => first)
      .join('')
      .startsWith(word)
  )
    return scores.initials;
  return null;
}

export interface Group<Item extends Searched> {
  value: string;
  items: readonly Item[];
}

/**
 * Returns the groups with matching items, best first; equal ones keep their order. An exact match comes first in
 * its group, but doesn't change the order of groups, so that runs stay above presets of the same name. `limit` is the
 * maximum number of items per group.
 */
export function search<Item extends Searched>(
  groups: readonly Group<Item>[],
  query: string,
  limit: number,
): Group<Item>[] {
  const isExact = ({ label }: Searched) => label.toLowerCase() === query.trim().toLowerCase();
  const found = groups.flatMap(({ value, items }) => {
    const matches = items
      .flatMap((item) => {
        const score = matchScore(query, item);
        return score === null ? [] : [{ item, score }];
      })
      .sort((a, b) => b.score - a.score || Number(isExact(b.item)) - Number(isExact(a.item)));
    const best = matches[0]?.score;
    return best === undefined ? [] : [{ value, best, items: matches.slice(0, limit).map(({ item }) => item) }];
  });
  return found.sort((a, b) => b.best - a.best).map(({ value, items }) => ({ value, items }));
}
