import type { Page } from 'playwright-core';

/** Waits until a page is still, for screenshots. */
export interface Watched {
  /** Resolves when all requests are answered, fonts are loaded, transitions have ended and the page is drawn. */
  still(): Promise<void>;
}

/** Call before the first navigation, because it listens to the page's messages. */
export function watch(page: Page): Watched {
  const open = new Set<string>();
  let answered = () => {};
  page.on('websocket', (socket) => {
    // birpc: a request and its answer have the same `i`.
    socket.on('framesent', ({ payload }) => {
      const { t, i } = JSON.parse(String(payload));
      if (t === 'q' && i !== undefined) open.add(i);
    });
    socket.on('framereceived', ({ payload }) => {
      const { t, i } = JSON.parse(String(payload));
      if (t === 's' && open.delete(i) && open.size === 0) answered();
    });
    socket.on('close', () => {
      open.clear();
      answered();
    });
  });
  return {
    still: async () => {
      await page.waitForLoadState('networkidle');
      do {
        if (open.size > 0)
          await new Promise<void>((resolve) => {
            answered = resolve;
          });
        await page.evaluate(drawn);
        await page.evaluate(motionOver);
        await page.evaluate(drawn);
        // An answer may cause another request.
      } while (open.size > 0);
    },
  };
}

/** Runs in the page: resolves when all changes are painted. */
export const drawn = () =>
  new Promise<void>((done) => requestAnimationFrame(() => requestAnimationFrame(() => done())));

async function motionOver(): Promise<void> {
  await document.fonts.ready;
  const moving = () =>
    document
      .getAnimations()
      .filter(
        ({ effect, playState }) =>
          playState === 'running' && effect?.getComputedTiming().endTime !== Number.POSITIVE_INFINITY,
      );
  for (let fades = moving(); fades.length > 0; fades = moving())
    await Promise.allSettled(fades.map(({ finished }) => finished));
}
