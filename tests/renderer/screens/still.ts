import type { Page } from 'playwright-core';

/** The page that its pictures are taken of: it can be waited for until nothing of it moves. */
export interface Watched {
  /** Settles once every question to core is answered, the letters are there, fades are over and what they led to is drawn. */
  still(): Promise<void>;
}

/** To be called before the page goes anywhere, since it listens to what page and core say. */
export function watch(page: Page): Watched {
  const open = new Set<string>();
  let answered = () => {};
  page.on('websocket', (socket) => {
    // birpc's words: a question with an `i` is answered under that `i`.
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
        // An answer may be what the next question is asked for.
      } while (open.size > 0);
    },
  };
}

/** In the page: settles once what has changed by now is on the screen. */
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
