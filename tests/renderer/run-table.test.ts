// @vitest-environment node
import { describe, expect, test } from 'vitest';
import type { RunSummary } from '../../core/contract/contract.ts';
import { leavesOf } from '../../core/contract/run-details.ts';
import { assignSlots, linesOf } from '../../renderer/pages/compare/lines.ts';
import { cellText, columnsFor, fitting, sortRuns, statisticsOf } from '../../renderer/run-table/columns.ts';
import { filterByText, parseFilter } from '../../renderer/run-table/filter-text.ts';
import { groupRuns } from '../../renderer/run-table/use-table.ts';
import { runOf } from './summaries.ts';

const marks = { tags: [], note: '', starred: false, archived: false, name: '' };
const at = (success: number) => ({ 'evaluation/frozen-lake/success_rate': success });
const run = (id: string, change: Partial<RunSummary>) => runOf({ id, name: `Run ${id}`, ...change });
const runs = [
  run('a', { latest: { ...at(0.5), 'rollout/entropy': 0.1 }, createdAt: 1, status: 'completed' }),
  run('b', { latest: at(0.75), createdAt: 2, marks: { ...marks, tags: ['baseline'], note: 'arms, swapped' } }),
  run('c', { name: 'Sweep, 10', environments: ['sokoban'], createdAt: 3, latest: {} }),
];
const settings = new Map([
  ['a', leavesOf({ seed: 1, optimizer: { learning_rate: 0.0003 }, rollout: { think: true } })],
  ['b', leavesOf({ seed: 2, optimizer: { learning_rate: 0.0003 }, rollout: { think: false } })],
  ['c', leavesOf({ seed: 1, optimizer: { learning_rate: 0.001 }, environments: [{ config: { size: 6 } }] })],
]);
const ids = (found: readonly RunSummary[]) => found.map(({ id }) => id).join('');
const matching = (text: string) => ids(filterByText(runs, text, settings).runs);

describe('the filter field', () => {
  test.each([
    ['', 'abc'],
    ['sweep', 'c'],
    ['SWAPPED arms', 'b'],
    ['"arms, swapped"', 'b'],
    ['-swapped', 'ac'],
    ['lr=3e-4', 'ab'],
    ['optimizer.learning_rate=0.001', 'c'],
    ['learning_rate!=3e-4', 'c'],
    ['lr>=3e-4 lr<1e-3', 'ab'],
    ['seed=1 lr=3e-4', 'a'],
    ['think=true', 'a'],
    ['-think=off', 'ac'],
    ['size=6', 'c'],
    ['tag=baseline', 'b'],
    ['tag!=baseline', 'ac'],
    ['env=sokoban', 'c'],
    ['status=completed', 'a'],
    ['success>50%', 'b'],
    ['success<=0.5', 'a'],
    ['entropy<0.2', 'a'],
    ['/^run [ab]$/', 'ab'],
    ['/baseline|sweep/', 'bc'],
    ['-/run/', 'c'],
    ['name="Sweep, 10"', 'c'],
  ])('%s', (text, found) => {
    expect(matching(text)).toBe(found);
    expect(filterByText(runs, text, settings).problem).toBeNull();
  });

  test('reports an invalid expression and an unknown setting', () => {
    expect(parseFilter('/(/').problem).toBe('Invalid regular expression: (');
    expect(filterByText(runs, 'learning=3', settings)).toEqual({
      runs: [],
      problem: 'None of the listed runs has a setting or metric “learning”.',
    });
    // While settings are loading, none is reported as unknown.
    expect(filterByText(runs, 'learning=3', null).problem).toBeNull();
  });
});

const columns = columnsFor(['rollout/entropy'], { settings });
const column = (id: string) => columns.find((each) => each.id === id)!;

describe('columns', () => {
  test('of settings and metrics have their titles and values', () => {
    const rate = column('setting:optimizer.learning_rate');
    expect([rate.title, cellText(rate, runs[0]!)]).toEqual(['Learning rate', '0.0003']);
    expect([column('metric:rollout/entropy').title, cellText(column('metric:rollout/entropy'), runs[0]!)]).toEqual([
      'Entropy',
      '0.100',
    ]);
    expect(cellText(column('success'), runs[1]!)).toBe('75.0 %');
    expect(cellText(column('success'), runs[2]!)).toBe('–');
  });

  test('sort with missing values last in both directions', () => {
    expect(ids(sortRuns(runs, column('success'), true))).toBe('bac');
    expect(ids(sortRuns(runs, column('success'), false))).toBe('abc');
    expect(ids(sortRuns(runs, column('setting:seed'), false))).toBe('cab');
    expect(ids(sortRuns(runs, undefined, false))).toBe('abc');
  });

  test('show mean and standard deviation of a group', () => {
    const { mean, deviation, count } = statisticsOf(column('success'), runs)!;
    expect([mean, count]).toEqual([0.625, 2]);
    expect(deviation).toBeCloseTo(0.1768, 4);
    expect(statisticsOf(column('success'), [runs[2]!])).toBeNull();
    expect(statisticsOf(column('success'), [runs[0]!])).toMatchObject({ mean: 0.5, deviation: null });
  });

  test('that fit are shown, the most important ones first', () => {
    const shownAt = (width: number) => fitting('history', columns, width).map(({ id }) => id);
    expect(shownAt(530)).toEqual(['status', 'success']);
    expect(shownAt(900)).toEqual(['status', 'trap', 'iterations', 'success', 'started']);
    expect(shownAt(1144)).toContain('panel');
    expect(shownAt(4000)).toContain('setting:seed');
  });

  test('name the state of the Echo Trap monitor', () => {
    const collapse = { peak: { iteration: 40, success: 0.484 }, last: { iteration: 150, success: 0 }, warnedAt: 16 };
    expect(cellText(column('trap'), run('d', { collapse }))).toBe('Collapsed');
    expect(cellText(column('trap'), run('d', { trap: { state: 'warning', since: 3 } }))).toBe('Collapse is near');
    expect(cellText(column('trap'), runs[0]!)).toBe('–');
  });
});

test('runs are grouped by a setting', () => {
  const groups = groupRuns('optimizer.learning_rate', runs, settings);
  expect(groups.map(({ label, runs: members }) => [label, ids(members)])).toEqual([
    ['learning rate 0.0003', 'ab'],
    ['learning rate 0.001', 'c'],
  ]);
});

describe('lines on the charts', () => {
  test('keep their colors when other runs are ticked', () => {
    const first = assignSlots(new Map(), ['a', 'b', 'c']);
    expect([...first]).toEqual([['a', 0], ['b', 1], ['c', 2]]); // biome-ignore format: pairs
    const second = assignSlots(first, ['b', 'c', 'd', 'e']);
    expect([...second]).toEqual([['b', 1], ['c', 2], ['d', 0], ['e', 3]]); // biome-ignore format: pairs
    expect(assignSlots(second, ['e', 'd', 'c', 'b'])).toBe(second);
  });

  test('share a color by the value of a setting', () => {
    const { marks: lines, groups } = linesOf(runs, new Map(), 'optimizer.learning_rate', settings);
    expect([...lines].map(([id, { color }]) => `${id} ${color}`)).toEqual(['a run-1', 'b run-1', 'c run-2']);
    expect(groups!.map(({ label }) => label)).toEqual(['learning rate 0.0003', 'learning rate 0.001']);
    const own = linesOf(runs, assignSlots(new Map(), ['a', 'b', 'c']), '', settings);
    expect([own.groups, own.marks.get('c')]).toEqual([null, { color: 'run-3', dash: undefined }]);
  });
});
