import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { untilRun } from '../core/fixtures/world.ts';
import { Page, small } from './page.tsx';

let page: Page;
let runId: string;
beforeEach(async () => {
  page = await Page.start();
  vi.stubEnv('FAKE_TRAINER_DIE', '3');
  runId = await page.core.runs.create({ preset: 'starter-bandit', set: small });
  await page.core.runs.start(runId);
  await untilRun(page.core, runId, ({ status }) => status === 'interrupted');
  vi.unstubAllEnvs();
});
afterEach(() => page.close());

const offer = 'section[aria-label="Interrupted runs"]';

test('an interrupted run is offered and resumes from its last checkpoint', async () => {
  page.open('#/start');
  const offerText = await page.shown(() => page.find(offer)?.textContent);
  expect(offerText).toMatch(/A run was interrupted\. Bandit [0-9a-f]{4} after iteration \d of 4\./);
  await page.click(page.withText(`${offer} button`, 'Resume from the last checkpoint'));
  await untilRun(page.core, runId, ({ status }) => status === 'completed');
  await page.shown(() => page.find(offer) === null);
});

test("a declined offer doesn't return", async () => {
  page.open('#/start');
  await page.click(page.withText(`${offer} button`, 'Not now'));
  await page.shown(() => page.find(offer) === null);
  expect(page.core.runs.get(runId).status).toBe('interrupted');
  page.open('#/studies');
  await page.shown(page.withText('h1', 'Sweeps'));
  expect(page.find(offer)).toBeNull();
  expect(localStorage.getItem('starpo-recovery')).toContain(runId);
});
