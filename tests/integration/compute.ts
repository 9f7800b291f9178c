import { spawnSync } from 'node:child_process';
import { expect } from 'vitest';
import { trainer } from './trainer-process.ts';

/** Parsed JSON: every request and reference case has fields of its own. */
export type Answer = ReturnType<typeof JSON.parse>;

/** Sends lines to `starpo-trainer compute` and returns its answers. */
export function answersTo(lines: readonly string[]): Answer[] {
  const { stdout, status, stderr } = spawnSync(trainer, ['compute'], {
    input: lines.map((line) => `${line}\n`).join(''),
    encoding: 'utf8',
    maxBuffer: 64 << 20,
  });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}

export const compute = (requests: readonly object[]) => answersTo(requests.map((request) => JSON.stringify(request)));

/** Compares nested lists of numbers, with the tolerance of the reference data unless another is given. */
export function expectClose(actual: unknown, expected: unknown, name: string, tolerance = 1e-9): void {
  if (Array.isArray(expected)) {
    expect(actual, name).toHaveLength(expected.length);
    for (const [i, each] of expected.entries()) expectClose((actual as unknown[])[i], each, `${name}[${i}]`, tolerance);
  } else if (typeof expected === 'object' && expected !== null) {
    for (const [key, each] of Object.entries(expected))
      expectClose((actual as Record<string, unknown>)[key], each, `${name}.${key}`, tolerance);
  } else if (typeof expected === 'number') {
    const error = Math.abs((actual as number) - expected);
    expect(error, `${name}: ${actual}, expected ${expected}`).toBeLessThanOrEqual(tolerance * (1 + Math.abs(expected)));
  } else {
    expect(actual, name).toEqual(expected);
  }
}
