import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { untilRun } from '../core/fixtures/world.ts';
import { Page, small } from './page.tsx';

let page: Page;
const shown: { title: string; body: string | undefined }[] = [];
beforeEach(async () => {
  shown.length = 0;
  class Shown {
    static permission = 'granted';
    constructor(title: string, { body }: NotificationOptions) {
      shown.push({ title, body });
    }
  }
  vi.stubGlobal('Notification', Shown);
  localStorage.setItem('starpo-notifications', 'on');
  page = await Page.start();
});
afterEach(async () => {
  await page.close();
  vi.unstubAllEnvs();
  vi.unstubAllGlobals();
});

/** Shows a run that waits after its second iteration. */
async function running(): Promise<string> {
  vi.stubEnv('FAKE_TRAINER_HOLD', '2');
  page.open('#/start');
  const runId = await page.core.runs.create({ preset: 'starter-bandit', set: small });
  await page.core.runs.start(runId);
  await untilRun(page.core, runId, ({ iteration }) => iteration === 2);
  await page.shown(page.withText('.run-link', '2 / 4'));
  return runId;
}

test('the end of a run is notified in the background, with its result', async () => {
  const focus = vi.spyOn(document, 'hasFocus').mockReturnValue(false);
  const runId = await running();
  await page.core.runs.command(runId, 'checkpoint');
  await page.shown(() => shown.length > 0);
  const [{ title, body } = {}] = shown;
  expect(title).toBe('Training completed');
  expect(body).toMatch(/^Bandit [0-9a-f]{4}, iteration 4 of 4\. Success \d+\.\d %\.$/);
  focus.mockRestore();
});

test.each([
  ['someone who looks at the app', true, 'checkpoint', 'completed'],
  ['someone who stopped it', false, 'stop', 'stopped'],
] as const)('%s gets no notification', async (_, looks, command, status) => {
  const focus = vi.spyOn(document, 'hasFocus').mockReturnValue(looks);
  const runId = await running();
  await page.core.runs.command(runId, command);
  await untilRun(page.core, runId, (run) => run.status === status);
  await page.shown(page.withText('.run-link', status === 'stopped' ? 'Stopped' : 'Completed'));
  expect(shown).toEqual([]);
  focus.mockRestore();
});
