import { afterAll, expect, vi } from 'vitest';

/** The files of a worker share one process. What one of them leaves behind there fails it, since the next would see it. */

const environment = { ...process.env };
const folder = process.cwd();

afterAll(() => {
  const names = Object.keys({ ...environment, ...process.env });
  expect(names.filter((name) => process.env[name] !== environment[name])).toEqual([]);
  expect(process.cwd()).toBe(folder);
  expect(vi.isFakeTimers()).toBe(false);
});
