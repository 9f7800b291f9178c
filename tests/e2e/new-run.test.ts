import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { violations } from './axe.ts';
import { type Studio, startStudio, type Visitor, visit } from './studio.ts';

let studio: Studio;
let visitor: Visitor | undefined;
beforeAll(async () => {
  studio = await startStudio();
});
afterEach(async ({ task }) => {
  if (task.result?.state === 'fail') await visitor?.screenshot('failure');
  await visitor?.close();
  visitor = undefined;
});
afterAll(() => studio?.close());

test('a configuration is edited and started by keyboard alone, and every state of the form is accessible', async () => {
  visitor = await visit(studio.address);
  const { page, expectNoComplaints } = visitor;
  page.setDefaultTimeout(120_000);
  await page.getByRole('link', { name: 'Configure Bandit, StarPO-S (PPO)' }).focus();
  expect(await violations(page)).toEqual([]);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'New run' }).waitFor();
  // The real trainer renders the prompts and plans the memory.
  const prompts = page.getByRole('region', { name: 'Prompt preview' });
  await prompts.getByText(/^(Phoenix or Dragon|Dragon or Phoenix)\?$/).waitFor();
  await page.getByRole('meter', { name: /^Memory: / }).waitFor();

  await page.keyboard.press('/');
  await page.keyboard.type('mini-batch');
  const field = page.getByLabel('Mini-batch', { exact: true });
  await field.waitFor();
  // Tab past the search field's clear button and the section's heading.
  while (!(await field.evaluate((element) => element === document.activeElement))) await page.keyboard.press('Tab');
  await page.keyboard.press('Control+A');
  await page.keyboard.type('24');
  await page.getByText('Mini-batch must be a multiple of “Rollouts per prompt”').first().waitFor();
  expect(await violations(page)).toEqual([]);
  await page.keyboard.press('Control+Enter');
  await page.keyboard.press('Control+A');
  await page.keyboard.type('32');
  await page.getByText('64 → 32').waitFor();

  await page.emulateMedia({ colorScheme: 'dark' });
  await page.getByRole('button', { name: 'Export…' }).focus();
  await page.keyboard.press('Enter');
  const dialog = page.getByRole('dialog', { name: 'Export the configuration' });
  expect(await dialog.getByLabel('run.json').inputValue()).toContain('"mini_batch": 32');
  expect(await violations(page)).toEqual([]);
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });

  const start = page.getByRole('complementary').getByRole('button', { name: 'Start', exact: true });
  await start.and(page.locator(':enabled')).waitFor();
  await page.keyboard.press('Control+Enter');
  await page
    .getByRole('heading', { name: /^Bandit/ })
    .first()
    .waitFor();
  await page.getByText('Running').first().waitFor();
  expectNoComplaints();
});

test('the form and the Start page fit a 1440 px window at 200 % zoom', async () => {
  visitor = await visit(studio.address);
  const { page } = visitor;
  await page.setViewportSize({ width: 720, height: 450 });
  const beside = () => page.locator('main').evaluate((main) => main.scrollWidth - main.clientWidth);
  await page.getByRole('heading', { name: /^Watch it learn/ }).waitFor();
  expect(await beside()).toBe(0);
  await page.goto(`${new URL(page.url()).origin}/#/studies/new/starter-mixed`);
  await page.getByRole('heading', { name: 'New sweep' }).waitFor();
  await page.getByRole('button', { name: 'Vary Learning rate in a sweep' }).click();
  for (const name of [/^Environment: FrozenLake/, /^Policy loss/, /^Evaluation and files/])
    await page.getByRole('button', { name }).click();
  expect(await beside()).toBe(0);
});
