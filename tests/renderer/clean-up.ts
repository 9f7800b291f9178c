import { afterAll, vi } from 'vitest';

/** Test files share a document, unless they run without one, and globals. */
afterAll(() => {
  globalThis.document?.body.replaceChildren();
  globalThis.localStorage?.clear();
  vi.useRealTimers();
  vi.unstubAllEnvs();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});
