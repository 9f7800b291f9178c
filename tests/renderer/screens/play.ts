import { cpSync, existsSync, readFileSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { cutAt, FakeHub } from '../../core/fixtures/hub.ts';
import { putCheckpoint, starter } from '../../core/fixtures/playable.ts';
import { root } from '../../core/fixtures/world.ts';
import { releaseRuns } from '../../release-runs.ts';
import { Served } from './studio.ts';

const trainer = process.env.STARPO_TRAINER ?? join(root, 'native/build/starpo-trainer');

/** Creates completed runs with the starter policy as checkpoint, and the real trainer to play; null if it isn't built. */
export async function playStudio(): Promise<Served> {
  if (!existsSync(trainer)) throw new Error('The trainer is not built.');
  const served = await Served.start(trainer);
  cpSync(starter, join(served.folder, 'resources/starter'), { recursive: true });
  for (const environment of ['frozen-lake', 'sokoban', 'bandit']) {
    const runId = `starter-${environment}-20261120-0915-4f2a`;
    const folder = join(served.folder, 'home/runs', runId);
    cpSync(join(releaseRuns, environment), folder, { recursive: true });
    for (const iteration of [0, 2]) putCheckpoint(folder, iteration);
    await served.call('runs.adopt', { runId });
    served.runs[environment] = runId;
  }
  // Two local folders, one with truncated weights.
  for (const name of ['my-qwen', 'half-a-model']) {
    const folder = join(served.folder, name);
    cpSync(starter, folder, { recursive: true });
    if (name === 'half-a-model') truncateSync(join(folder, 'model.safetensors'), 2_000_000);
    await served.call('models.add', { folder });
  }
  const names = ['config.json', 'tokenizer.json', 'tokenizer_config.json', 'model.safetensors'];
  const hub = new FakeHub(Object.fromEntries(names.map((name) => [name, readFileSync(join(starter, name))])));
  await hub.start();
  // As large as a real model, with repeatedly broken downloads.
  hub.faults = Array.from({ length: 100 }, () => cutAt('model.safetensors', 2_000_000));
  await served.call('hub.set', { host: hub.host });
  const close = served.close.bind(served);
  served.close = async () => {
    hub.close();
    await close();
  };
  return served;
}

/** Finds a model; with `download` also starts the download. */
export function lookUp(download: boolean) {
  return async (page: Page) => {
    await page.getByLabel('Hugging Face repo').fill('someone/Tiny-Qwen');
    await page.getByRole('button', { name: 'Find', exact: true }).click();
    const accept = page.getByRole('button', { name: /download$/ });
    await accept.waitFor();
    await page.getByText('Hub address and token').click();
    if (!download) return;
    await accept.click();
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByRole('button', { name: 'Resume' }).waitFor();
  };
}

/** Both sides play the first levels; `levels` is the number. */
export function playLevels(levels: number) {
  return async (page: Page) => {
    // Reduced motion: boards show the final position immediately.
    await page.emulateMedia({ reducedMotion: 'reduce' });
    await page.getByRole('button', { name: 'Not now' }).click();
    for (let level = 1; level <= levels; level += 1) {
      await page.getByRole('group', { name: 'Your actions' }).waitFor();
      for (const key of ['ArrowRight', 'ArrowDown', 'ArrowDown', 'ArrowRight', 'ArrowDown'])
        await page.keyboard.press(key);
      await page.getByRole('button', { name: 'Play again', exact: true }).waitFor();
      if (level < levels) await page.keyboard.press('n');
    }
  };
}
