import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { environmentChecks } from '../../core/contract/contract.ts';
import { root } from '../../scripts/lib/process.mjs';
import { FakeHub } from '../core/fixtures/hub.ts';
import { putCheckpoint, starter } from '../core/fixtures/playable.ts';
import { releaseRuns } from '../release-runs.ts';
import { violationsInBothThemes } from './axe.ts';
import { type Served, serve, type Visitor, visit } from './studio.ts';

const runId = 'frozen-lake-to-play';

let home: string;
let served: Served;
let visitor: Visitor;
let page: Page;

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'starpo-e2e-'));
  const folder = join(home, 'runs', runId);
  cpSync(join(releaseRuns, 'frozen-lake'), folder, { recursive: true });
  for (const iteration of [0, 2]) putCheckpoint(folder, iteration);
  served = await serve(home);
  visitor = await visit(served.address);
  page = visitor.page;
});
afterEach(async ({ task }) => {
  if (task.result?.state === 'fail') await visitor.screenshot('play-and-models-failure');
});
afterAll(async () => {
  await visitor?.close();
  await served?.end();
  rmSync(home, { recursive: true, force: true, maxRetries: 10 });
});

const expectAccessible = async () => expect(await violationsInBothThemes(page)).toEqual([]);

/** Checks that nothing is wider than the window, from small (200 % zoom) to large. */
async function expectNoOverflow(): Promise<void> {
  for (const width of [640, 1024, 1440, 2560]) {
    await page.setViewportSize({ width, height: 900 });
    const excess = await page.evaluate(() => {
      const main = document.querySelector('main')!;
      return Math.max(main.scrollWidth - main.clientWidth, document.body.scrollWidth - innerWidth);
    });
    expect(excess, `at ${width} px`).toBeLessThanOrEqual(0);
  }
}

test('a level is played against the agent by keyboard alone', async () => {
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await page.getByRole('link', { name: 'Play', exact: true }).focus();
  await page.keyboard.press('Enter');
  await page
    .getByRole('table', { name: 'Runs to play against' })
    .getByRole('link', { name: /^FrozenLake/ })
    .focus();
  await page.keyboard.press('Enter');
  const you = page.getByRole('region', { name: 'You' });
  const agent = page.getByRole('region', { name: 'Agent' });
  await you.getByText('10 of 10 actions left').waitFor();
  await expectNoOverflow();
  await page.keyboard.press('ArrowUp');
  await you.getByText('9 of 10 actions left').waitFor();
  await agent.getByRole('button', { name: 'Play again' }).waitFor();
  await agent.getByText(/^(Solved in \d+ actions?|Failed: .*|Out of (actions|turns))$/).waitFor();
  expect(await agent.getByRole('heading', { name: 'Turn 1' }).count()).toBe(1);
  await expectAccessible();
  await page.keyboard.press('n');
  await page.getByRole('region', { name: 'Score' }).getByText('0 of 1 solved').first().waitFor();
  await you.getByText('10 of 10 actions left').waitFor();

  // Another window opens its own game from a pasted address.
  await page.evaluate((hash) => location.assign(hash), `#/play/${runId}/0`);
  await agent.getByText('checkpoint 0 ·').waitFor();
  await page.reload();
  await agent.getByText('checkpoint 0 ·').waitFor();
  visitor.expectNoComplaints();
});

test('a model is downloaded from a custom hub', async () => {
  const names = ['config.json', 'tokenizer.json', 'model.safetensors'];
  const hub = new FakeHub(Object.fromEntries(names.map((name) => [name, readFileSync(join(starter, name))])));
  await hub.start();
  try {
    await page.getByRole('link', { name: 'Models' }).click();
    await page.getByText('Hub address and token').click();
    await page.getByLabel('Address').fill(hub.host);
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText(`${hub.host}, no token`).waitFor();
    await page.getByLabel('Hugging Face repo').fill(hub.repository);
    await page.keyboard.press('Enter');
    await page.getByText('apache-2.0', { exact: true }).waitFor();
    await expectAccessible();
    await expectNoOverflow();
    await page.getByRole('button', { name: 'Accept apache-2.0 and download' }).click();
    const row = page.getByRole('row', { name: /Tiny-Qwen/ });
    await row.getByText('downloaded').waitFor();
    expect(await row.textContent()).toContain('989.8k');
    visitor.expectNoComplaints();
  } finally {
    hub.close();
  }
});

test('an environment of the user is confirmed, checked, played by hand and by a policy, and put on the Start page', async () => {
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.getByRole('link', { name: 'Environments' }).click();
  await page.getByText('No environments of your own yet').waitFor();
  await page.getByRole('button', { name: 'Add an environment' }).click();
  const command = `exec '${process.execPath}' 2048.mjs 8`;
  await page.getByRole('textbox', { name: /^Command/ }).fill(command);
  await page.getByRole('textbox', { name: /^Folder/ }).fill(join(root, 'examples/environments'));
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  const question = page.getByRole('dialog', { name: 'Run this command?' });
  await question.getByText(/^[0-9a-f]{64}$/).waitFor();
  expect(await question.textContent()).toContain(command);
  await expectAccessible();
  await question.getByRole('button', { name: 'Cancel' }).click();
  await page.getByText('was not confirmed.').waitFor();
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  await question.getByRole('button', { name: 'Run command' }).click();
  await page.getByRole('heading', { name: '2048', level: 1 }).waitFor();

  // Listed before they run, so that results don't move the sections below.
  expect(await page.getByRole('list', { name: 'Check results' }).getByRole('listitem').count()).toBe(
    environmentChecks.length,
  );
  await page.getByRole('button', { name: 'Run checks' }).click();
  const hand = page.getByRole('region', { name: 'Play by hand' });
  await hand.getByRole('button', { name: 'Start' }).click();
  const board = hand.getByRole('img', { name: /^Board\. Row 1: (empty|2)/ });
  await board.waitFor();
  await hand.getByRole('button', { name: 'Left' }).click();
  await hand.getByText('Left, reward +0.5').waitFor();
  await page.keyboard.press('ArrowUp');
  await hand.getByText(/^Up, /).waitFor();

  await page.getByText('All passed').waitFor();
  const watch = page.getByRole('region', { name: 'Watch a policy' });
  const policy = watch.getByLabel('Policy');
  await policy.selectOption({ label: (await policy.getByRole('option').nth(1).textContent())! });
  await watch.getByLabel('Checkpoint').selectOption('2');
  await watch.getByRole('button', { name: 'Play ten episodes' }).click();
  const rows = watch.getByRole('row', { name: /^Level \d+/ });
  await rows.nth(9).waitFor();
  expect(await rows.count()).toBe(10);
  await watch.getByText(/checkpoint 2, temperature/).waitFor();
  const tokens = watch.getByRole('figure', { name: 'Sampled tokens' }).getByRole('listitem');
  const counts = (await tokens.allTextContents()).map((text) => Number(/: (\d+) episodes/.exec(text)![1]));
  expect(counts.reduce((sum, count) => sum + count, 0)).toBe(10);
  await rows.nth(3).getByRole('button').click();
  await watch.getByRole('heading', { name: 'Level 4' }).waitFor();
  await expectAccessible();
  await expectNoOverflow();

  await page.getByRole('button', { name: 'Add to Start page' }).click();
  await page.getByRole('button', { name: 'Remove from Start page' }).waitFor();
  await page.getByRole('link', { name: 'Start', exact: true }).click();
  await page.getByRole('link', { name: 'Configure 2048, StarPO-S (PPO)' }).waitFor();
  visitor.expectNoComplaints();
});
