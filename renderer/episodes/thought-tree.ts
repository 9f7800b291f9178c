import type { Thoughts } from '../../core/contract/contract.ts';

type Thought = Thoughts['thoughts'][number];

/** Thoughts that share their first words, drawn as one branch. */
export interface Branch {
  /** The words that it adds, cut where they are many. */
  text: string;
  /** What was cut off, in words: `37 more words`, `goes on in 9 ways`; null where nothing was. */
  more: string | null;
  count: number;
  successes: number;
  /** All its words from the first on; null where it stands for several openings that are too small to be drawn. */
  opening: string | null;
  /** Nothing follows: the opening is the whole thought. */
  whole: boolean;
  /** The most frequent first, then what is too small. */
  branches: Branch[];
}

interface Limits {
  /** Branches one behind the other. */
  depth: number;
  /** Branches beside each other. */
  breadth: number;
  /** Thoughts that a branch must have to be drawn by itself. */
  least: number;
  /** Words of a branch that nothing follows, and of one that goes on. */
  words: number;
}

/** A word and what follows it. */
interface Node {
  word: string;
  count: number;
  successes: number;
  /** Thoughts that end with this word. */
  ends: number;
  endSuccesses: number;
  next: Map<string, Node>;
}

export const wordsOf = (text: string): string[] => text.split(/\s+/).filter((word) => word !== '');

/** Whether a thought begins with these words, or is made of them alone. */
export function matches(text: string, opening: string, whole: boolean): boolean {
  const words = wordsOf(text).join(' ');
  return words === opening || (!whole && (opening === '' || words.startsWith(`${opening} `)));
}

/** Branches that nothing is drawn behind. */
export const leavesOf = (branches: readonly Branch[]): number =>
  branches.reduce((sum, { branches: next }) => sum + Math.max(1, leavesOf(next)), 0);

/** The first thoughts of an iteration as a tree of words, in which words that always follow each other are one branch. */
export function thoughtTree(thoughts: readonly Thought[], limits: Limits): Branch[] {
  const root = node('');
  for (const thought of thoughts) grow(root, thought);
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

function grow(root: Node, { text, count, successes }: Thought): void {
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

/** What follows a node, the thoughts that end with it among it. */
function branchesOf(place: Node, before: readonly string[], limits: Limits): Branch[] {
  const next = [...place.next.values()].sort((a, b) => b.count - a.count);
  const ending = place.ends > 0 ? [endOf(place, before)] : [];
  const drawn = next.slice(0, limits.breadth - ending.length).filter(({ count }) => count >= limits.least);
  // One alone is drawn: it takes no more room than to say so.
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
  if (whole) return { ...common, ...cutEnd(words, limits.words), branches: [] };
  const text = cutMiddle(words, limits.words);
  const scattered =
    last.ends < limits.least && [...last.next.values()].every(({ count }) => count < limits.least);
  if (limits.depth <= 1 || scattered) {
    const ways = last.next.size + (last.ends > 0 ? 1 : 0);
    return { ...common, text, more: `goes on in ${ways} ways`, branches: [] };
  }
  const branches = branchesOf(last, opening, { ...limits, depth: limits.depth - 1 });
  return { ...common, text, more: null, branches };
}

/** Of thoughts that go no further, where others do; of empty ones, where there is no word at all. */
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
    text: `${nodes.length} other${nodes.length === 1 ? '' : 's'}`,
    more: null,
    count: sum(({ count }) => count),
    successes: sum(({ successes }) => successes),
    opening: null,
    whole: false,
    branches: [],
  };
}

function cutEnd(words: readonly string[], limit: number): Pick<Branch, 'text' | 'more'> {
  // One word more takes less room than saying so.
  if (words.length <= limit + 1) return { text: words.join(' '), more: null };
  return { text: `${words.slice(0, limit).join(' ')} …`, more: `${words.length - limit} more words` };
}

function cutMiddle(words: readonly string[], limit: number): string {
  if (words.length <= limit + 1) return words.join(' ');
  const end = Math.floor(limit / 3);
  return [...words.slice(0, limit - end), '…', ...words.slice(words.length - end)].join(' ');
}
