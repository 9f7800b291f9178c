import { relative } from 'node:path';

/** How many tests passed and failed, and per failure its name and first lines. @typedef {{ passed: number, failed: number, failures: string[] }} Results */

/** The longest excerpt of a failure in the summary, in lines; the output above it has the rest. */
const excerptLines = 15;

/**
 * Reads doctest's output. A missing summary (a crash) or a run without tests counts as a failure.
 * @param {string} output @param {number} status exit status @returns {Results}
 */
export function doctestResults(output, status) {
  const summary = output.match(/test cases:\s*\d+\s*\|\s*(\d+) passed\s*\|\s*(\d+) failed/);
  if (!summary) return { passed: 0, failed: 1, failures: [lastLines(output)] };
  const failures = output
    .split(/^={20,}$/m)
    .filter((part) => /: (FATAL )?ERROR: /.test(part))
    .map(firstLines);
  return judge({ passed: Number(summary[1]), failed: Number(summary[2]), failures }, status);
}

/**
 * Reads vitest's JSON report. A file that can't be loaded counts as one failure.
 * @param {string | undefined} report @param {number} status exit status @returns {Results}
 */
export function vitestResults(report, status) {
  if (!report) return { passed: 0, failed: 1, failures: ['vitest wrote no report.'] };
  /**
   * @type {{ numPassedTests: number, numFailedTests: number, testResults: {
   *   name: string, status: string, message: string,
   *   assertionResults: { status: string, fullName: string, failureMessages: string[] }[] }[] }}
   */
  const { numPassedTests, numFailedTests, testResults } = JSON.parse(report);
  const failures = [];
  let unloadable = 0;
  for (const { name, status: fileStatus, message, assertionResults } of testResults) {
    const file = relative(process.cwd(), name);
    const failed = assertionResults.filter((test) => test.status === 'failed');
    for (const { fullName, failureMessages } of failed)
      failures.push(firstLines(`${file}: ${fullName}\n${failureMessages.join('\n')}`));
    if (fileStatus !== 'failed' || failed.length > 0) continue;
    unloadable++;
    failures.push(firstLines(`${file}\n${message}`));
  }
  return judge({ passed: numPassedTests, failed: numFailedTests + unloadable, failures }, status);
}

/** Counts a failure if the runner failed or ran nothing, even without a failed test. @param {Results} results @param {number} status @returns {Results} */
function judge(results, status) {
  if (results.failed > 0 || (results.passed > 0 && status === 0)) return results;
  return { ...results, failed: 1, failures: [`No test failed, but the test runner ended with status ${status}.`] };
}

/** @param {string} text */
const lines = (text) => text.trim().split('\n');
/** @param {string} text */
const firstLines = (text) => lines(text).slice(0, excerptLines).join('\n');
/** @param {string} text */
const lastLines = (text) => lines(text).slice(-excerptLines).join('\n');

/** @param {Results[]} results @returns {Results} */
export function sum(results) {
  return {
    passed: results.reduce((total, { passed }) => total + passed, 0),
    failed: results.reduce((total, { failed }) => total + failed, 0),
    failures: results.flatMap(({ failures }) => failures),
  };
}
