import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { SimulatedCluster, whyNoCluster } from '../core/fixtures/simulated-cluster.ts';
import { violations } from './axe.ts';
import { type Studio, startStudio, type Visitor, visit } from './studio.ts';

const noCluster = whyNoCluster();
let folder: string;
let cluster: SimulatedCluster | undefined;
let studio: Studio;
let visitor: Visitor | undefined;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'starpo-slurm-'));
  if (noCluster === null) cluster = await SimulatedCluster.start(join(folder, 'slurm'), 1);
  studio = await startStudio();
});
afterEach(async ({ task }) => {
  if (task.result?.state === 'fail') await visitor?.screenshot('new-run-failure');
  await visitor?.close();
  visitor = undefined;
});
afterAll(async () => {
  await studio?.close();
  await cluster?.stop();
  rmSync(folder, { recursive: true });
});

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
  const isFocused = () => field.evaluate((element) => element === document.activeElement);
  for (let tabs = 0; tabs < 40 && !(await isFocused()); tabs++) await page.keyboard.press('Tab');
  expect(await isFocused()).toBe(true);
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

test.skipIf(noCluster !== null)(
  `a cluster is added in Settings, and a run is submitted to it, held and canceled${noCluster ? ` (skipped: ${noCluster})` : ''}`,
  async () => {
    visitor = await visit(studio.address);
    const { page, expectNoComplaints, screenshot } = visitor;
    const open = (hash: string) =>
      page.evaluate((to) => {
        location.hash = to;
      }, hash);
    await open('#/settings');
    await page.getByRole('button', { name: 'Add a Slurm cluster…' }).click();
    const form = page.getByRole('dialog', { name: 'Add a Slurm cluster' });
    await form.getByLabel('Time limit per attempt').fill('2:00:00');
    await form.getByLabel('GPUs per job').fill('0');
    await form.getByLabel('More options').fill('--begin=now+1hour');
    await screenshot('cluster-form');
    await form.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('button', { name: 'Check slurm' }).click();
    await page.getByText(/^A job could start at .* on n1 in partition gpu\.$/).waitFor();

    await open('#/new/starter-bandit');
    await page.getByLabel('Run on').selectOption('slurm');
    await page.getByRole('complementary').getByRole('button', { name: 'Submit…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Submit the run' });
    await dialog.getByText(/^A job could start at /).waitFor();
    expect(await dialog.getByRole('region', { name: 'Batch script' }).textContent()).toContain(
      '#SBATCH --begin=now+1hour',
    );
    await screenshot('cluster-submit');
    await dialog.getByRole('button', { name: 'Submit', exact: true }).click();

    const job = page.getByRole('region', { name: 'Job' });
    await job.getByText(/^Starts at /).waitFor();
    await job.getByRole('button', { name: 'Hold' }).click();
    await job.getByText('Is held; release it to let it start').waitFor();
    expect(await violations(page)).toEqual([]);
    await screenshot('cluster-job');
    await job.getByRole('button', { name: 'Cancel job…' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel the job' }).click();
    await job.getByText('Was canceled').waitFor();
    expectNoComplaints();
  },
);

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
