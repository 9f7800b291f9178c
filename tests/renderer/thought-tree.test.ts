// @vitest-environment node
import { expect, test } from 'vitest';
import { type Branch, matches, openingCounts, thoughtTree } from '../../renderer/episodes/thought-tree.ts';

const limits = { depth: 5, breadth: 9, least: 1, words: 9 };
const thought = (text: string, count: number, successes = 0) => ({ text, count, successes, episodes: [] });

/** `go 3/5 [left 2/2, right 1/3]`. */
const drawn = (branches: readonly Branch[]): string =>
  branches
    .map(({ text, more, count, successes, branches: next }) => {
      const own = `${text}${more ? ` (${more})` : ''} ${successes}/${count}`;
      return next.length > 0 ? `${own} [${drawn(next)}]` : own;
    })
    .join(', ');

test('words without alternatives form one branch, most frequent first', () => {
  const tree = thoughtTree(
    [thought('I go left now', 2, 2), thought('I go right', 3, 1), thought('the goal', 1)],
    limits,
  );
  expect(drawn(tree)).toBe('I go 3/5 [right 1/3, left now 2/2], the goal 0/1');
  expect(tree[0]!.branches[0]).toMatchObject({ opening: 'I go right', whole: true });
});

test('a text that ends where others continue has a branch of its own', () => {
  const tree = thoughtTree([thought('I go', 5, 1), thought('I  go\nhome', 2, 2)], limits);
  expect(drawn(tree)).toBe('I go 3/7 [(ends here) 1/5, home 2/2]');
  const [ends, continues] = tree[0]!.branches;
  expect(ends).toMatchObject({ opening: 'I go', whole: true });
  expect(continues).toMatchObject({ opening: 'I go home', whole: true });
});

test('texts that differ only after their opening, or in case and punctuation, have one opening', () => {
  const trunk = Array.from({ length: 127 }, (_, index) =>
    thought(`${index % 2 ? 'The goal is' : 'the goal, is'}  down and right; step ${index}`, 1),
  );
  expect(openingCounts([...trunk, thought('I go left', 1)])).toEqual([127, 1]);
  expect(openingCounts([thought('', 3)])).toEqual([3]);
});

test('an empty text has a branch', () => {
  expect(drawn(thoughtTree([thought('', 4, 1)], limits))).toBe('(empty) 1/4');
  expect(thoughtTree([], limits)).toEqual([]);
});

test('a long text is shortened and shows how many words are missing', () => {
  const long = Array.from({ length: 46 }, (_, index) => `w${index}`).join(' ');
  expect(drawn(thoughtTree([thought(long, 1)], { ...limits, words: 3 }))).toBe('w0 w1 w2 … (43 more words) 0/1');
  const [branch] = thoughtTree([thought(`${long} a`, 1), thought(`${long} b`, 1)], { ...limits, words: 6 });
  expect(branch!.text).toBe('w0 w1 w2 w3 … w44 w45');
});

test('deep branches show the number of continuations, rare ones are merged', () => {
  const thoughts = ['a b c', 'a b d', 'a e', 'f', 'g', 'h'].map((text) => thought(text, 2, 1));
  expect(drawn(thoughtTree(thoughts, { ...limits, depth: 1 }))).toBe('a (2 continuations) 3/6, f 1/2, g 1/2, h 1/2');
  expect(drawn(thoughtTree(thoughts, { ...limits, breadth: 2 }))).toBe(
    'a 3/6 [b 2/4 [c 1/2, d 1/2], e 1/2], f 1/2, 2 others 2/4',
  );
  expect(drawn(thoughtTree(thoughts, { ...limits, least: 3 }))).toBe(
    'a 3/6 [b (2 continuations) 2/4, e 1/2], 3 others 3/6',
  );
});

test.each([
  ['I go home', 'I go', false, true],
  ['I  go', 'I go', true, true],
  ['I go home', 'I go', true, false],
  ['I gone', 'I go', false, false],
  ['', '', true, true],
  ['I', '', true, false],
])('%j is of %j (whole: %s): %s', (text, opening, whole, expected) => {
  expect(matches(text, opening, whole)).toBe(expected);
});
