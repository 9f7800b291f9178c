import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { RunJob, RunSummary } from '../../core/contract/contract.ts';
import { Failure } from '../../core/contract/failure.ts';
import { statusText } from '../../renderer/pages/run/run-header.tsx';
import { FakeSlurm } from '../core/fixtures/fake-slurm.ts';
import { World } from '../core/fixtures/world.ts';
import { Page, small } from './page.tsx';
import { runOf } from './summaries.ts';

let page: Page;
const slurm = new FakeSlurm();
beforeAll(async () => {
  const world = new World();
  const targets = { lab: { type: 'slurm', time: '2:00:00', partition: 'gpu' } };
  writeFileSync(join(world.home, 'targets.json'), JSON.stringify({ version: 1, targets }));
  // Jobs are read when a test has changed them.
  page = await Page.startIn(world, undefined, { backgroundWork: true, slurm: { run: slurm.run, interval: 600_000 } });
  page.open('#/settings');
});
afterAll(() => page.close());

const go = (hash: string) => {
  location.hash = hash;
};
/** Waits for the selection of the cluster, and selects it. */
async function runOnLab(): Promise<void> {
  const find = () => page.all<HTMLLabelElement>('label').find(({ textContent }) => textContent === 'Run on')?.control;
  const select = (await page.shown(find)) as HTMLSelectElement;
  expect([...select.options].map(({ textContent }) => textContent)).toEqual(['This machine', 'lab']);
  page.choose(select, 'lab');
}
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

/** Submits a run and opens its page. `change`: changes its job. */
async function openSubmitted() {
  const runId = await make();
  const job = await page.core.cluster.submit(runId, 'lab');
  page.core.jobPoller.changed([runId]);
  go(`#/run/${runId}`);
  await state(`Job ${job} on lab Waits for free nodes or GPUs`);
  const change = (values: Parameters<typeof slurm.set>[1]) => {
    slurm.set(job, values);
    page.core.cluster.jobs.expire();
    page.core.jobPoller.changed([runId]);
  };
  return { job, change, folder: page.core.runs.folder(runId) };
}

test('a pending job is held, released, delayed and canceled on the page of its run', async () => {
  const { job } = await openSubmitted();
  await badge('Pending');
  await page.shown(page.withText('.chart-waiting', 'Submitted to lab'));
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
  await page.shown(() => slurm.jobs.get(job)!.nice === 500 && !dialog());

  await page.click(button('Cancel job…'));
  await page.click(inDialog('Cancel the job'));
  await state('Was canceled');
  await badge('Not started');
  await page.shown(page.withText('.run-head button', /^Start$/));
  expect(page.all('section[aria-label="Job"] button')).toEqual([]);
});

test('a job is described when it can never run, runs, is requeued, is in an unknown state and fails', async () => {
  const { change, folder, job } = await openSubmitted();
  change({ reason: 'PartitionTimeLimit' });
  await state(/Can never run .PartitionTimeLimit.: it requests more/);
  await badge("Can't run");
  expect(button('Hold')()).toBeUndefined();

  change({ state: 'RUNNING' });
  await state(/^Job \d on lab Is running on n1 .started 2026-11-26 12:26:33. .* left$/);
  await badge('Starting');
  await page.click(button('Requeue…'));
  await page.click(inDialog('Requeue the job'));
  await state('Starts later');

  slurm.answers = false;
  change({});
  await state('Is in an unknown state: The Slurm controller does not answer.');
  await badge('Unknown');
  slurm.answers = true;

  const attempt = { job, restart: 0, node: 'n1' };
  const lines = [
    { type: 'begin', ...attempt, time: 1000 },
    { type: 'end', ...attempt, time: 4000, code: 127 },
  ];
  appendFileSync(join(folder, 'attempts.jsonl'), lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  writeFileSync(join(folder, 'trainer.log'), 'bash: /lab/trainer: No such file\n');
  change({ state: 'FAILED', exitCode: '127:0' });
  await state('Failed with exit code 127: bash: /lab/trainer: No such file');
  await badge('Failed');
  await page.shown(page.withText('section[aria-label="Last lines of trainer.log"]', 'No such file'));
  panel()!.querySelector('summary')!.click();
  await page.shown(() =>
    new RegExp(`^1${job}n1.*3 s127$`).test(page.find('section[aria-label="Attempts"] tbody tr')?.textContent ?? ''),
  );
});

const submitDialog = () =>
  page.shown(() => dialog()?.querySelector('[aria-label="Batch script"] pre')?.textContent?.includes('#SBATCH'));
const fact = (title: string) =>
  [...dialog()!.querySelectorAll('dt')].find(({ textContent }) => textContent === title)!.nextSibling!.textContent;

test.each<[status: RunSummary['status'], phase: RunJob['phase'], text: RegExp]>([
  ['created', 'pending', /^Waiting for the job$/],
  ['created', 'running', /^Starting…$/],
  ['running', 'unknown', /^Starting…$/],
  ['completed', 'running', /^All iterations completed$/],
  ['completed', 'unknown', /^All iterations completed$/],
  ['completed', 'pending', /^Waiting for the job$/],
  ['failed', 'running', /^The job is running$/],
  ['failed', 'unknown', /^Job state unknown$/],
  ['failed', 'ended', /^Failed after iteration 87\./],
])('a run that is %s with a job that is %s has its own status', (status, phase, text) => {
  const job = { phase } as RunJob;
  expect(statusText(runOf({ status, job }))).toMatch(text);
});

test('a new run is submitted after its script, price and start are shown, also if it was created before', async () => {
  const before = page.core.runs.list().map(({ id }) => id);
  const created = () => page.core.runs.list().filter(({ id }) => !before.includes(id));
  slurm.refusal = 'allocation failure: Requested node configuration is not available';
  go('#/new/starter-bandit?iterations=4');
  await runOnLab();
  await page.click(page.withText('aside button', 'Submit…') as () => HTMLElement);
  await submitDialog();
  // A job that can never run is reported before the run is created.
  await page.shown(() =>
    dialog()!.textContent!.includes('Slurm rejected the request: Requested node configuration is not available.'),
  );
  expect(inDialog(/^Submit$/)()!.disabled).toBe(true);
  slurm.refusal = null;
  await page.click(inDialog('Check again'));
  await page.shown(() => fact('Start') === 'A job could start at 2026-11-26 12:26:33 on n1 in partition gpu.');
  expect([fact('Jobs'), fact('At most')]).toEqual(['1 on lab', '2 GPU hours per attempt']);
  expect(created()).toEqual([]);
  const script = dialog()!.querySelector('pre')!.textContent!;

  slurm.answers = false;
  await page.click(inDialog(/^Submit$/));
  await page.shown(() =>
    dialog()!.textContent!.includes('The run was created, but not submitted. The Slurm controller does not answer.'),
  );
  slurm.answers = true;
  await page.click(inDialog('Check again'));
  await page.shown(() => fact('Start')?.startsWith('A job') && inDialog(/^Submit$/)()!.disabled === false);
  await page.click(inDialog(/^Submit$/));
  await state(/^Job \d on lab Waits for free nodes or GPUs/);
  const [run, ...others] = created();
  expect(others).toEqual([]);
  expect(location.hash).toBe(`#/run/${run!.id}`);
  expect(slurm.scripts.at(-1)).toBe(script);
  expect(readFileSync(join(page.core.runs.folder(run!.id), 'slurm.sh'), 'utf8')).toBe(script);
});

test('a new sweep and the queue are submitted, and a sweep cancels its jobs', async () => {
  const earlier = slurm.jobs.size;
  const sent = () => [...slurm.jobs.keys()].slice(earlier);
  go('#/studies/new/starter-bandit?iterations=4');
  await runOnLab();
  await page.click(page.withText('button', 'Create and submit…') as () => HTMLElement);
  await submitDialog();
  await page.shown(() => fact('Start')?.startsWith('A job'));
  expect([fact('Jobs'), fact('At most')]).toEqual(['3 on lab, at most 3 at once', '6 GPU hours per attempt']);
  await page.click(inDialog(/^Submit$/));
  await page.shown(() => location.hash.startsWith('#/study/'));
  await page.shown(page.withText('header p', '0 of 3 runs completed, 3 queued or running'));
  const tasks = sent();
  expect(tasks.map((id) => id.replace(/^\d+/, ''))).toEqual(['_0', '_1', '_2']);
  expect(page.withText('button', 'Submit to a cluster…')()).toBeUndefined();
  await page.click(page.withText('button', /^Cancel$/) as () => HTMLElement);
  await page.shown(page.withText('button', 'Submit to a cluster…'));
  expect(tasks.map((id) => slurm.jobs.get(id)!.state)).toEqual(['CANCELLED', 'CANCELLED', 'CANCELLED']);

  const queued = [await make(), await make()];
  for (const runId of queued) page.core.queue.add(runId);
  go('#/queue');
  await page.shown(() => page.all('ol > li').length === queued.length);
  await page.click(page.withText('header button', 'Submit to a cluster…') as () => HTMLElement);
  await submitDialog();
  await page.shown(() => fact('Start')?.startsWith('A job'));
  expect(fact('Jobs')).toBe('2 on lab, at most 2 at once');
  // After a failure, the runs that were not submitted are checked and submitted.
  const { cluster } = page.core;
  const failure = new Failure('slurm_unreachable', 'The Slurm controller does not answer.', 'Try again later.');
  const submit = cluster.submit.bind(cluster);
  vi.spyOn(cluster, 'submit').mockImplementationOnce(submit).mockRejectedValueOnce(failure);
  await page.click(inDialog(/^Submit$/));
  await page.shown(() => dialog()!.textContent!.includes('1 of 2 runs were submitted. The Slurm controller'));
  await page.click(inDialog('Check again'));
  await page.shown(() => fact('Jobs') === '1 on lab' && fact('Start')?.startsWith('A job'));
  await page.click(inDialog(/^Submit$/));
  await page.shown(page.withText('.empty-title', 'No runs are queued'));
  expect(sent()).toHaveLength(tasks.length + 2);
  // A run that has a job is not queued on this machine.
  await expect.poll(() => page.core.runs.get(queued[0]!).job?.phase).toBe('pending');
  expect(() => page.core.queue.add(queued[0]!)).toThrow(expect.objectContaining({ code: 'job_active' }));
});

test('clusters are added, checked, edited and removed in Settings', async () => {
  const section = 'section[aria-label="Clusters"]';
  const inSection = (text: string) => page.withText(`${section} button`, text) as () => HTMLElement;
  const input = (title: string) =>
    [...dialog()!.querySelectorAll('label')].find(({ textContent }) => textContent!.startsWith(title))!
      .control as HTMLInputElement;
  go('#/settings');
  await page.click(inSection('Check'));
  await page.shown(page.withText(`${section} [role="status"]`, 'A job could start at'));
  slurm.refusal = 'allocation failure: Invalid partition name specified';
  await page.click(inSection('Check'));
  await page.shown(page.withText(`${section} .note`, 'Invalid partition name specified.'));

  await page.click(inSection('Add a Slurm cluster…'));
  await page.shown(dialog);
  expect(inDialog('Save')()!.disabled).toBe(true);
  page.write(input('Name'), 'lab');
  await page.shown(() => dialog()!.textContent!.includes('Another cluster has this name.'));
  page.write(input('Name'), 'big');
  page.write(input('Time limit per attempt'), '5');
  await page.shown(() => dialog()!.textContent!.includes('must be shorter than the time limit'));
  page.write(input('Time limit per attempt'), '8:00:00');
  page.write(input('CPUs per job'), '0');
  await page.shown(() => dialog()!.textContent!.includes('CPUs per job must be a whole number from 1 to 1024.'));
  page.write(input('CPUs per job'), '16');
  await page.click(inDialog('Save'));
  await page.shown(page.withText(`${section} li`, /^bigslurm: 1 GPU, 16 CPUs, at most 8:00:00/));
  const saved = () => JSON.parse(readFileSync(join(page.world.home, 'targets.json'), 'utf8')).targets;
  expect(saved().big).toEqual({ type: 'slurm', time: '8:00:00', cpus: 16 });

  await page.click(`${section} button[aria-label="Edit lab…"]`);
  await page.shown(dialog);
  expect(input('Partition').value).toBe('gpu');
  page.write(input('Partition'), '');
  await page.click(inDialog('Save'));
  await page.shown(() => !dialog());
  expect(saved().lab).toEqual({ type: 'slurm', time: '2:00:00' });

  await page.click(`${section} button[aria-label="Remove lab…"]`);
  await page.click(inDialog(/^Remove$/));
  await page.shown(() => page.all(`${section} li`).length === 1);
  expect(Object.keys(saved())).toEqual(['big']);

  // The file is read again when the user returns from an editor.
  writeFileSync(join(page.world.home, 'targets.json'), '{');
  dispatchEvent(new Event('focus'));
  await page.shown(page.withText(`${section} .note`, 'is not valid JSON'));
  writeFileSync(join(page.world.home, 'targets.json'), JSON.stringify({ version: 1, targets: {} }));
  dispatchEvent(new Event('focus'));
  await page.shown(page.withText(section, 'To submit runs to Slurm, add a cluster.'));
});
