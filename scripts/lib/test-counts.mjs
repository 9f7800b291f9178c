/** How many tests passed and failed. @typedef {{ passed: number, failed: number }} Counts */

/**
 * Reads doctest's summary. A missing summary (a crash) or a run without tests counts as a failure.
 * @param {string} output @param {number} status exit status @returns {Counts}
 */
export function doctestCounts(output, status) {
  const summary = output.match(/test cases:\s*\d+\s*\|\s*(\d+) passed\s*\|\s*(\d+) failed/);
  if (!summary) return { passed: 0, failed: 1 };
  return judge({ passed: Number(summary[1]), failed: Number(summary[2]) }, status);
}

/**
 * Reads vitest's JSON report. A file that can't be loaded counts as one failure.
 * @param {string | undefined} report @param {number} status exit status @returns {Counts}
 */
export function vitestCounts(report, status) {
  if (!report) return { passed: 0, failed: 1 };
  /** @type {{ numPassedTests: number, numFailedTests: number, testResults: { status: string, assertionResults: { status: string }[] }[] }} */
  const { numPassedTests, numFailedTests, testResults } = JSON.parse(report);
  const unloadable = testResults.filter(
    (file) => file.status === 'failed' && !file.assertionResults.some((test) => test.status === 'failed'),
  );
  return judge({ passed: numPassedTests, failed: numFailedTests + unloadable.length }, status);
}

/** Counts a failure if the runner failed or ran nothing, even without a failed test. @param {Counts} counts @param {number} status @returns {Counts} */
function judge({ passed, failed }, status) {
  const silent = failed === 0 && (passed === 0 || status !== 0);
  return { passed, failed: silent ? 1 : failed };
}

/** @param {Counts[]} counts @returns {Counts} */
export function sum(counts) {
  return counts.reduce((a, b) => ({ passed: a.passed + b.passed, failed: a.failed + b.failed }), {
    passed: 0,
    failed: 0,
  });
}
