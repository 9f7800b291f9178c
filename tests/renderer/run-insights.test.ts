// @vitest-environment node
import { expect, test } from 'vitest';
import { bestOf, firstDifference } from '../../renderer/pages/group/first-difference.ts';
import { shortTime, timelineRows } from '../../renderer/pages/run/timeline-text.ts';

test('the first action that differs from the best episode of the group', () => {
  expect(bestOf([{ reward: 0 }, { reward: 1 }, { reward: 1 }])).toBe(1);
  const best = [null, 'Down', 'Right', 'Down'];
  expect(firstDifference([null, 'Down', 'Left', 'Down'], best)).toBe(2);
  expect(firstDifference([null, 'Down', 'Right', 'Down', 'Up'], best)).toBe(4);
  expect(firstDifference(best, best)).toBeNull();
  expect(firstDifference([null, 'Down'], best)).toBeNull();
});

test('a timeline has a row per phase with the time and share of its iteration', () => {
  const span = (name: string, iteration: number, start: number, end: number) => ({
    ...{ name, iteration, start: start * 1000, end: end * 1000 },
  });
  const { rows, start, end, seconds } = timelineRows({
    ...{ iteration: 2, first: 1, last: 3 },
    spans: [
      span('update', 1, 0, 2),
      span('rollout', 2, 2, 7),
      span('update', 2, 7, 8),
      span('diagnose', 2, 8, 9),
      span('update', 2, 9, 12),
      span('write', 2, 8, 10),
      span('compile', 2, 12, 12.5),
    ],
  });
  expect([start, end, seconds]).toEqual([0, 12_500, 10.5]);
  expect(rows.map(({ title, seconds: spent }) => `${title} ${spent}`)).toEqual([
    'Rollout 5',
    'Update 4',
    'Diagnostics 1',
    'Write episodes 2',
    'compile 0.5',
  ]);
  expect(rows[0]!.share).toBeCloseTo(5 / 10.5);
  expect(rows[1]!.spans).toHaveLength(3);
  expect([0.0842, 1.254, 64, 900].map(shortTime)).toEqual(['84 ms', '1.25 s', '64.0 s', '15 min']);
});
