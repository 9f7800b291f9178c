import { describe, expect, test } from 'vitest';
import { doctestCounts, sum, vitestCounts } from '../scripts/lib/test-counts.mjs';

describe('doctest', () => {
  const summary = (passed: number, failed: number) =>
    `[doctest] test cases: ${passed + failed} | ${passed} passed | ${failed} failed | 0 skipped\n[doctest] assertions: 99 | 99 passed | 0 failed |\n`;

  test('counts test cases, not assertions', () => {
    expect(doctestCounts(summary(41, 0), 0)).toEqual({ passed: 41, failed: 0 });
    expect(doctestCounts(summary(40, 2), 1)).toEqual({ passed: 40, failed: 2 });
  });

  test('a crash and an empty run are failures', () => {
    expect(doctestCounts('Segmentation fault', 139).failed).toBe(1);
    expect(doctestCounts(summary(0, 0), 0).failed).toBe(1);
    expect(doctestCounts(summary(41, 0), 134).failed).toBe(1);
  });
});

describe('vitest', () => {
  const file = (...statuses: string[]) => ({
    status: statuses.every((status) => status === 'passed') && statuses.length > 0 ? 'passed' : 'failed',
    assertionResults: statuses.map((status) => ({ status })),
  });
  const report = (numPassedTests: number, numFailedTests: number, testResults: unknown[]) =>
    JSON.stringify({ numPassedTests, numFailedTests, testResults });

  test('counts tests', () => {
    expect(vitestCounts(report(2, 0, [file('passed', 'passed')]), 0)).toEqual({ passed: 2, failed: 0 });
    expect(vitestCounts(report(1, 1, [file('passed', 'failed')]), 1)).toEqual({ passed: 1, failed: 1 });
  });

  test('a file that cannot be loaded counts as a failure', () => {
    expect(vitestCounts(report(1, 0, [file('passed'), file()]), 1)).toEqual({ passed: 1, failed: 1 });
  });

  test('no report, no test and an unexplained exit status are failures', () => {
    expect(vitestCounts(undefined, 1).failed).toBe(1);
    expect(vitestCounts(report(0, 0, []), 0).failed).toBe(1);
    expect(vitestCounts(report(1, 0, [file('passed')]), 1).failed).toBe(1);
  });
});

test('test counts are summed over all runners', () => {
  expect(
    sum([
      { passed: 2, failed: 0 },
      { passed: 3, failed: 1 },
    ]),
  ).toEqual({ passed: 5, failed: 1 });
});
