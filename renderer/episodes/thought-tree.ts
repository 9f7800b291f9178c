import type { Thoughts } from '../../core/contract/contract.ts';
import { count } from '../../core/contract/numbers.ts';

type Thought = Thoughts['thoughts'][number];

/** Reasoning texts that share their first words, drawn as one branch. */
export interface Branch {
  /** The words that the branch adds; shortened if there are many. */
  text: string;
  /** Describes the omitted part: `37 more words`, `9 continuations`; null if nothing was omitted. */
  more: string | null;
  count: number;
  successes: number;
  /** All words from the start; null for a branch that represents several small ones. */
  opening: string | null;
  /** True if the opening is the complete text. */
  whole: boolean;
  /** Most frequent first, then the branch of small ones. */
  branches: Branch[];
}

interface Limits {
  /** Maximum number of branches from root to leaf. */
  depth: number;
  /** Maximum number of siblings. */
  breadth: number;
  /** Minimum count of a branch of its own. */
  least: number;
  /** Maximum words of a leaf, and of a branch with continuations. */
  words: number;
}

/** A word and its continuations. */
interface Node {
  word: string;
  count: number;
  successes: number;
  /** Texts that end with this word. */
  ends: number;
  endSuccesses: number;
  next: Map<string, Node>;
}

export const wordsOf = (text: string): string[] => text.split(/\s+/).filter((word) => word !== '');

/** Returns whether a string begins with these words, or equals them if `whole`. */
export function matches(text: string, opening: string, whole: boolean): boolean {
  const words = wordsOf(text).join(' ');
  return words === opening || (!whole && (opening === '' || words.startsWith(`${opening} `)));
}

/** Number of words that make an opening, as in the metric `rollout/common_opening_share`. */
const openingWords = 3;

/** Returns how often each opening occurs, most frequent first: the first words without case and punctuation. */
export function openingCounts(thoughts: readonly Thought[]): number[] {
  const counts = new Map<string, number>();
  for (const { text, count } of thoughts) {
    const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
    const opening = words.slice(0, openingWords).join(' ');
    counts.set(opening, (counts.get(opening) ?? 0) + count);
  }
  return [...counts.values()].sort((a, b) => b - a);
}

/** Counts the leaves. */
export const leavesOf = (branches: readonly Branch[]): number =>
  branches.reduce((sum, { branches: next }) => sum + Math.max(1, leavesOf(next)), 0);

/** Builds a tree of words from an iteration's first reasoning texts. Words without alternatives become one branch. */
export function thoughtTree(thoughts: readonly Thought[], limits: Limits): Branch[] {
  const root = node('');
  for (const thought of thoughts) addThought(root, thought);
  return branchesOf(root, [], limits);
}

const node = (word: string): Node => ({
  word,
  count: 0,
  successes: 0,
  ends: 0,
  endSuccesses: 0,
  next: new Map(),
});

function addThought(root: Node, { text, count, successes }: Thought): void {
  let place = root;
  for (const word of wordsOf(text)) {
    const next = place.next.get(word) ?? node(word);
    place.next.set(word, next);
    next.count += count;
    next.successes += successes;
    place = next;
  }
  place.ends += count;
  place.endSuccesses += successes;
}

/** Returns the continuations of a node, including texts that end there. */
function branchesOf(place: Node, before: readonly string[], limits: Limits): Branch[] {
  const next = [...place.next.values()].sort((a, b) => b.count - a.count);
  const ending = place.ends > 0 ? [endOf(place, before)] : [];
  const drawn = next.slice(0, limits.breadth - ending.length).filter(({ count }) => count >= limits.least);
  // A single small branch takes no more space than a summary of it.
  const rest = next.length - drawn.length === 1 ? [] : next.slice(drawn.length);
  if (rest.length === 0) drawn.push(...next.slice(drawn.length));
  const branches = [...drawn.map((each) => branchOf(each, before, limits)), ...ending];
  branches.sort((a, b) => b.count - a.count);
  return rest.length > 0 ? [...branches, othersOf(rest)] : branches;
}

function branchOf(first: Node, before: readonly string[], limits: Limits): Branch {
  const words = [first.word];
  let last = first;
  while (last.ends === 0 && last.next.size === 1) {
    last = last.next.values().next().value!;
    words.push(last.word);
  }
  const opening = [...before, ...words];
  const { count, successes } = first;
  const whole = last.next.size === 0;
  const common = { count, successes, opening: opening.join(' '), whole };
  if (whole) return { ...common, ...shortenEnd(words, limits.words), branches: [] };
  const text = shortenMiddle(words, limits.words);
  const onlyRare = last.ends < limits.least && [...last.next.values()].every(({ count }) => count < limits.least);
  if (limits.depth <= 1 || onlyRare) {
    const continuations = last.next.size + (last.ends > 0 ? 1 : 0);
    return { ...common, text, more: `${continuations} continuations`, branches: [] };
  }
  const branches = branchesOf(last, opening, { ...limits, depth: limits.depth - 1 });
  return { ...common, text, more: null, branches };
}

/** Returns a leaf for texts that end at this node; the root has one for empty texts. */
const endOf = ({ ends, endSuccesses }: Node, before: readonly string[]): Branch => ({
  text: before.length === 0 ? '(empty)' : '(ends here)',
  more: null,
  count: ends,
  successes: endSuccesses,
  opening: before.join(' '),
  whole: true,
  branches: [],
});

function othersOf(nodes: readonly Node[]): Branch {
  const sum = (of: (node: Node) => number) => nodes.reduce((total, each) => total + of(each), 0);
  return {
    text: count(nodes.length, 'other'),
    more: null,
    count: sum(({ count }) => count),
    successes: sum(({ successes }) => successes),
    opening: null,
    whole: false,
    branches: [],
  };
}

function shortenEnd(words: readonly string[], limit: number): Pick<Branch, 'text' | 'more'> {
  // One more word takes less space than a note about it.
  if (words.length <= limit + 1) return { text: words.join(' '), more: null };
  return { text: `${words.slice(0, limit).join(' ')} …`, more: `${words.length - limit} more words` };
}

function shortenMiddle(words: readonly string[], limit: number): string {
  if (words.length <= limit + 1) return words.join(' ');
  const end = Math.floor(limit / 3);
  return [...words.slice(0, limit - end), '…', ...words.slice(words.length - end)].join(' ');
}
