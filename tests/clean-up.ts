import { afterAll, vi } from 'vitest';

/** Test files share modules and the process. */
afterAll(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  vi.unstubAllGlobals();
  vi.useRealTimers();
});
