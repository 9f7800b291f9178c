import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { doctestResults, sum, vitestResults } from '../scripts/lib/test-results.mjs';

describe('doctest', () => {
  const summary = (passed: number, failed: number) =>
    `[doctest] test cases: ${passed + failed} | ${passed} passed | ${failed} failed | 0 skipped\n[doctest] assertions: 99 | 99 passed | 0 failed |\n`;
  const separator = `${'='.repeat(79)}\n`;

  test('counts test cases, not assertions', () => {
    expect(doctestResults(summary(41, 0), 0)).toMatchObject({ passed: 41, failed: 0 });
    expect(doctestResults(summary(40, 2), 1)).toMatchObject({ passed: 40, failed: 2 });
  });

  test('a crash and an empty run are failures', () => {
    expect(doctestResults('Segmentation fault', 139)).toEqual({
      passed: 0,
      failed: 1,
      failures: ['Segmentation fault'],
    });
    expect(doctestResults(summary(0, 0), 0).failed).toBe(1);
    expect(doctestResults(summary(41, 0), 134).failed).toBe(1);
  });

  test('quotes failed test cases without messages and skipped ones', () => {
    const skipped = 'a.cpp:1:\nTEST CASE:  skips\n\na.cpp:2: MESSAGE: skipped: no AVX512\n';
    const failed = 'b.cpp:1:\nTEST CASE:  fails\n\nb.cpp:2: ERROR: CHECK( 1 == 2 ) is NOT correct!';
    const output = [skipped, `${failed}\n\n`, summary(2, 1)].join(separator);
    expect(doctestResults(output, 1).failures).toEqual([failed]);
  });
});

describe('vitest', () => {
  const name = join(process.cwd(), 'tests/a.test.ts');
  const file = (...statuses: string[]) => ({
    name,
    message: 'Cannot find module',
    status: statuses.every((status) => status === 'passed') && statuses.length > 0 ? 'passed' : 'failed',
    assertionResults: statuses.map((status) => ({
      status,
      fullName: 'counts',
      failureMessages: ['Error: 1 is not 2'],
    })),
  });
  const report = (numPassedTests: number, numFailedTests: number, testResults: unknown[]) =>
    JSON.stringify({ numPassedTests, numFailedTests, testResults });

  test('counts tests and quotes the failed ones', () => {
    expect(vitestResults(report(2, 0, [file('passed', 'passed')]), 0)).toEqual({ passed: 2, failed: 0, failures: [] });
    expect(vitestResults(report(1, 1, [file('passed', 'failed')]), 1)).toEqual({
      passed: 1,
      failed: 1,
      failures: ['tests/a.test.ts: counts\nError: 1 is not 2'],
    });
  });

  test('a file that cannot be loaded counts as a failure', () => {
    expect(vitestResults(report(1, 0, [file('passed'), file()]), 1)).toEqual({
      passed: 1,
      failed: 1,
      failures: ['tests/a.test.ts\nCannot find module'],
    });
  });

  test('no report, no test and an unexplained exit status are failures', () => {
    for (const results of [
      vitestResults(undefined, 1),
      vitestResults(report(0, 0, []), 0),
      vitestResults(report(1, 0, [file('passed')]), 1),
    ]) {
      expect(results.failed).toBe(1);
      expect(results.failures).toHaveLength(1);
    }
  });
});

test('results are added up over all runners', () => {
  expect(
    sum([
      { passed: 2, failed: 0, failures: [] },
      { passed: 3, failed: 1, failures: ['counts'] },
    ]),
  ).toEqual({ passed: 5, failed: 1, failures: ['counts'] });
});
