import type { Locator, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type Studio, startStudio, type Visitor, visit } from './studio.ts';

let studio: Studio;
let visitor: Visitor | undefined;

beforeAll(async () => {
  studio = await startStudio();
});
afterEach(async ({ task }) => {
  if (task.result?.state === 'fail') await visitor?.screenshot('first-light-failure');
  await visitor?.close();
  visitor = undefined;
});
afterAll(() => studio?.close());

/** Waits until a chart's text alternative matches `words`, which include the iteration. */
async function chart(page: Page, title: string, words: RegExp): Promise<Locator> {
  const figure = page.getByRole('figure', { name: title, exact: true }).filter({ hasText: words });
  const problem = page.getByRole('alert');
  await figure.or(problem).first().waitFor();
  expect(await problem.allTextContents()).toEqual([]);
  return figure;
}

/** Waits until a chart's picture changes. The chart may replace its canvas. */
async function moves(figure: Locator): Promise<void> {
  const picture = () => figure.locator('canvas').evaluate((canvas) => (canvas as HTMLCanvasElement).toDataURL());
  const before = await picture();
  await expect.poll(picture, { timeout: 200_000, interval: 100 }).not.toBe(before);
}

/** Opens the first episode in the table and waits for the player. */
async function chooseFirstEpisode(page: Page): Promise<void> {
  const rows = page.getByRole('table').getByRole('link', { name: /^Group \d+, episode \d+: / });
  await rows.first().click();
  await page.locator('section[aria-label="Player"]:not([data-loading])').waitFor();
}

/** Plays the episode from start to end and returns the board's labels at both. */
async function play(page: Page): Promise<{ first: string; last: string }> {
  const board = page.getByRole('region', { name: 'Player' }).getByRole('img');
  await page.keyboard.press('Home');
  const first = await board.and(page.getByRole('img', { name: /^Start\./ })).getAttribute('aria-label');
  await page.getByRole('button', { name: '4×' }).click();
  await page.getByRole('button', { name: 'Play (space)' }).click();
  await page.getByRole('button', { name: 'Go to end (End)', disabled: true }).waitFor();
  await page.getByRole('button', { name: 'Play (space)' }).waitFor();
  return { first: first ?? '', last: (await board.getAttribute('aria-label')) ?? '' };
}

const charts = [
  'Success',
  'Reward',
  'Reward std (in-group)',
  'Entropy',
  'Gradient norm',
  'Response length',
  'Throughput',
];

test('one click trains FrozenLake, the charts update, and an episode replays', async () => {
  visitor = await visit(studio.address);
  const { page, screenshot, expectNoComplaints } = visitor;

  await page.getByRole('button', { name: 'Start FrozenLake, StarPO-S (GRPO)' }).waitFor();
  await screenshot('1-start');
  await page.getByRole('button', { name: 'Start FrozenLake, StarPO-S (GRPO)' }).click();

  await moves(page.getByRole('region', { name: 'Boards' }).filter({ hasText: 'Iteration' }));
  await moves(await chart(page, 'Success', /rollout \(T 1\): .* at iteration \d/));
  await screenshot('2-run');
  await page.getByRole('tab', { name: 'Charts' }).click();
  for (const title of charts) await chart(page, title, /at iteration ([2-9]|\d\d)/);

  await page.getByRole('button', { name: 'Pause', exact: true }).click();
  await page.getByRole('button', { name: 'Resume' }).click();
  await page.getByRole('button', { name: 'Pause', exact: true }).waitFor();

  await page.getByRole('link', { name: 'Replay episodes' }).click();
  await chooseFirstEpisode(page);
  const { first, last } = await play(page);
  expect(first).toMatch(/^Start\. Board of 4 by 4\. Agent at row \d, column \d\. Goal at /);
  expect(last).toMatch(/^Turn \d+/);
  const conversation = page.getByRole('region', { name: 'Conversation' });
  expect(await conversation.getByRole('heading', { name: 'Turn 1' }).count()).toBe(1);
  expect(await conversation.getByRole('heading', { name: 'State' }).count()).toBeGreaterThan(0);
  await screenshot('3-replay');

  await page.goBack();
  await page.getByRole('button', { name: 'Stop…' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Stop' }).click();
  await page.getByRole('button', { name: 'Resume' }).waitFor();
  await page.reload();
  await page.getByRole('button', { name: 'Resume' }).waitFor();
  await chart(page, 'Success', /rollout \(T 1\): .* at iteration ([2-9]|\d\d)/);
  expectNoComplaints();
});

test('Bandit trains and replays in the dark theme', async () => {
  visitor = await visit(studio.address, { colorScheme: 'dark' });
  const { page, screenshot, expectNoComplaints } = visitor;

  await page.getByRole('radio', { name: 'StarPO-S (PPO)' }).focus();
  await page.keyboard.press('ArrowRight');
  await page.getByRole('button', { name: 'Start Bandit, StarPO-S (GRPO)' }).click();
  await chart(page, 'Reward', /at iteration \d/);
  await page.getByRole('tab', { name: 'Charts' }).click();
  const rewardStd = await chart(page, 'Reward std (in-group)', /by action: .* at iteration \d/);
  const cut = (labels: Element[]) =>
    labels.filter((label) => label.scrollWidth > label.clientWidth).map((label) => label.textContent);
  expect(await rewardStd.locator('figcaption ~ div span').evaluateAll(cut)).toEqual([]);
  await screenshot('4-run-dark');
  await page.getByRole('link', { name: 'Replay episodes' }).click();
  await chooseFirstEpisode(page);
  const { first, last } = await play(page);
  expect(first).toContain('Arms: ');
  expect(last).toMatch(/^Turn 1/);
  await screenshot('5-replay-dark');
  expectNoComplaints();
});
