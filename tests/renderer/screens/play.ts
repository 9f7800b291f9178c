import { cpSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { putCheckpoint } from '../../core/fixtures/playable.ts';
import { root } from '../../core/fixtures/world.ts';
import { Served } from './studio.ts';

const trainer = process.env.STARPO_TRAINER ?? join(root, 'native/build/starpo-trainer');

/** Finished runs whose checkpoints are the starter policy, and the real trainer to play their environments; null where that isn't built. */
export async function playStudio(): Promise<Served> {
  if (!existsSync(trainer)) throw new Error('The trainer is not built.');
  const served = await Served.start(trainer);
  for (const environment of ['frozen-lake', 'frozen-lake-slippery', 'sokoban', 'bandit']) {
    const runId = `starter-${environment}-20261120-0915-4f2a`;
    const folder = join(served.folder, 'home/runs', runId);
    cpSync(join(root, 'tests/fixtures/version-1', environment), folder, { recursive: true });
    for (const iteration of [0, 2]) putCheckpoint(folder, iteration);
    await served.call('runs.adopt', { runId });
    served.runs[environment] = runId;
  }
  return served;
}

/** Both play the first levels; `levels`: how many. */
export function playLevels(levels: number) {
  return async (page: Page) => {
    for (let level = 1; level <= levels; level += 1) {
      await page.getByRole('group', { name: 'Your moves' }).waitFor();
      for (const key of ['ArrowRight', 'ArrowDown', 'ArrowDown', 'ArrowRight', 'ArrowDown'])
        await page.keyboard.press(key);
      await page.getByRole('button', { name: 'Play it again', exact: true }).waitFor();
      await page.waitForTimeout(2500);
      if (level < levels) await page.keyboard.press('n');
    }
  };
}
