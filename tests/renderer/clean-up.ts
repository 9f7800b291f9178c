import { afterAll } from 'vitest';

/** Test files share a document, unless they run without one. */
afterAll(() => {
  globalThis.document?.body.replaceChildren();
  globalThis.localStorage?.clear();
});
