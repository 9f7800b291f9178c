import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { FakeSlurm } from '../core/fixtures/fake-slurm.ts';
import { World } from '../core/fixtures/world.ts';
import { Page, small } from './page.tsx';

vi.mock('uplot', () => import('./uplot.ts'));

let page: Page;
let slurm: FakeSlurm;
beforeEach(async () => {
  slurm = new FakeSlurm();
  const world = new World();
  const targets = { lab: { type: 'slurm', time: '2:00:00', partition: 'gpu' } };
  writeFileSync(join(world.home, 'targets.json'), JSON.stringify({ version: 1, targets }));
  page = await Page.startIn(world, undefined, { backgroundWork: true, slurm: { run: slurm.run, interval: 20 } });
});
afterEach(() => page.close());

const make = () => page.core.runs.create({ preset: 'starter-bandit', set: small });
const dialog = () => document.querySelector('[role="dialog"]');
const inDialog = (text: string | RegExp) => () =>
  [...(dialog()?.querySelectorAll<HTMLButtonElement>('button') ?? [])].find(({ textContent }) =>
    textContent?.match(text),
  );
const panel = () => page.find('section[aria-label="Job"]');
const state = (text: string | RegExp) => page.shown(page.withText('section[aria-label="Job"] [role="status"]', text));
const badge = (text: string) => page.shown(page.withText('.run-head .status-badge', text));
const button = (text: string) => page.withText('section[aria-label="Job"] button', text);

/** Sends a run and opens its page. */
async function openSent(): Promise<{ runId: string; folder: string }> {
  const runId = await make();
  await page.core.cluster.submit(runId, 'lab');
  page.core.jobPoller.changed([runId]);
  page.open(`#/run/${runId}`);
  await state('Job 1 on lab Waits for free nodes or GPUs');
  return { runId, folder: page.core.runs.folder(runId) };
}

test('a pending job is held, released, delayed and canceled on the page of its run', async () => {
  await openSent();
  await badge('Pending');
  await page.shown(page.withText('.run-link-detail', 'Pending'));
  // The run can't be started on this machine.
  expect(page.withText('.run-head button', /^Start$/)()).toBeUndefined();

  await page.click(button('Hold'));
  await state('Is held');
  await badge('Held');
  await page.click(button('Release'));
  await state('Waits behind jobs with a higher priority');

  await page.click(button('Priority…'));
  const nice = (await page.shown(() => dialog()?.querySelector('input')))!;
  expect(nice.value).toBe('0');
  page.write(nice, '-1');
  await page.shown(() => dialog()?.textContent?.includes('Enter a whole number'));
  expect(inDialog('Set priority')()!.disabled).toBe(true);
  page.write(nice, '500');
  await page.click(inDialog('Set priority'));
  await page.shown(() => slurm.jobs.get('1')!.nice === 500 && !dialog());

  await page.click(button('Cancel job…'));
  await page.click(inDialog('Cancel the job'));
  await state('Was canceled');
  await badge('Not started');
  await page.shown(page.withText('.run-head button', /^Start$/));
  expect(page.all('section[aria-label="Job"] button')).toEqual([]);
});

test('a job that can never run, runs, is requeued, is out of reach and fails is described', async () => {
  const { folder } = await openSent();
  slurm.set('1', { reason: 'PartitionTimeLimit' });
  await state(/Can never run .PartitionTimeLimit.: it requests more/);
  await badge('Can’t run');
  expect(button('Hold')()).toBeUndefined();

  slurm.set('1', { state: 'RUNNING' });
  await state(/^Job 1 on lab Runs on n1 since 2026-11-26 12:26:33.* left$/);
  await badge('Starting');
  await page.click(button('Requeue…'));
  await page.click(inDialog('Requeue the job'));
  await state('Was requeued and starts again');

  slurm.answers = false;
  await state('Unknown: The Slurm controller does not answer.');
  await badge('Unknown');
  slurm.answers = true;

  const attempt = { job: '1', restart: 0, node: 'n1' };
  const lines = [
    { type: 'begin', ...attempt, time: 1000 },
    { type: 'end', ...attempt, time: 4000, code: 127 },
  ];
  appendFileSync(join(folder, 'attempts.jsonl'), lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  writeFileSync(join(folder, 'trainer.log'), 'bash: /lab/trainer: No such file\n');
  slurm.set('1', { state: 'FAILED', exitCode: '127:0' });
  await state('Failed with exit code 127: bash: /lab/trainer: No such file');
  await badge('Failed');
  await page.shown(page.withText('section[aria-label="Last lines of trainer.log"]', 'No such file'));
  panel()!.querySelector('summary')!.click();
  await page.shown(() =>
    /^11n1.*3 s127$/.test(page.find('section[aria-label="Attempts"] tbody tr')?.textContent ?? ''),
  );
});
