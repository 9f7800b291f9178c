// @vitest-environment node
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createChangeBatcher } from '../../renderer/stores/change-batcher.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('few changes are applied immediately; many are batched by id, and the last are not lost', () => {
  const applied: [string, number][][] = [];
  const { add } = createChangeBatcher<number>((changes) => applied.push([...changes]));
  add('a', 1);
  add('b', 1);
  expect(applied).toEqual([[['a', 1]], [['b', 1]]]);
  for (let count = 0; count < 1000; count++) add(`run ${count % 10}`, count);
  expect(applied.length).toBeLessThan(12);
  vi.advanceTimersByTime(1000);
  expect(applied.length).toBeLessThan(12);
  expect(new Map(applied.at(-1)).get('run 9')).toBe(999);
  const shown = new Map(applied.flat());
  expect([...shown].slice(2)).toEqual(Array.from({ length: 10 }, (_, index) => [`run ${index}`, 990 + index]));

  vi.advanceTimersByTime(1000);
  add('a', 2);
  expect(applied.at(-1)).toEqual([['a', 2]]);
});

test('pending changes can be flushed once', () => {
  const applied: string[] = [];
  const { add, flush } = createChangeBatcher<number>((changes) => applied.push(...changes.keys()));
  for (let count = 0; count < 100; count++) add(`run ${count}`, count);
  flush();
  expect(applied).toHaveLength(100);
  vi.advanceTimersByTime(5000);
  expect(applied).toHaveLength(100);
});

test('stop drops pending changes', () => {
  const applied: string[] = [];
  const { add, stop } = createChangeBatcher<number>((changes) => applied.push(...changes.keys()));
  for (let count = 0; count < 100; count++) add(`run ${count}`, count);
  const before = applied.length;
  expect(before).toBeLessThan(100);
  stop();
  vi.advanceTimersByTime(5000);
  expect(applied).toHaveLength(before);
});
