import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import type { Input } from '../../core/contract/contract.ts';
import { importFile } from '../core/fixtures/import-file.ts';
import * as journal from '../core/fixtures/journal.ts';
import { seriesOf } from '../core/fixtures/trap-series.ts';
import { Page, small } from './page.tsx';

let page: Page;
afterEach(async () => {
  await page.close();
  vi.unstubAllEnvs();
});

const wish: Input<'studies.create'> = {
  name: 'Clip width',
  base: { preset: 'starter-frozen-lake-grpo' },
  set: small,
  points: [
    { name: 'as shipped', set: {} },
    { name: 'wide', set: { 'policy_loss.clip_high': 0.28 } },
  ],
  seeds: [1, 2],
};
const inDialog = (text: string) => () =>
  [...document.querySelectorAll<HTMLElement>('[role="dialog"] button')].find((button) => button.textContent === text);
const cells = () => page.all('table[aria-label="Settings"] tbody td').map(({ textContent }) => textContent);

test('a sweep starts on its page, which updates its table and chart', async () => {
  page = await Page.start(undefined, undefined, { worksQueue: true });
  page.open('#/studies');
  await page.shown(page.withText('.empty', 'No sweeps yet'));
  const id = await page.core.studies.create(wish);
  await page.click(page.withText('a', 'Clip width') as () => HTMLElement);
  await page.shown(() => location.hash === `#/study/${id}`);
  await page.shown(page.withText('h1', 'Clip width'));
  await page.shown(page.withText('p', /Not started: 0 of 4 runs completed/));
  expect(page.all('main circle')).toEqual([]);
  await page.click(page.withText('button', 'Start'));
  await page.shown(page.withText('p', /Completed: 4 of 4 runs completed/));
  expect(cells()[1]).toBe('4 / 4');
  expect(cells()[2]).toBe('40.0 %40 % and 40 %');
  expect(cells()[3]).toBe('70.0 %70 % and 70 %');
  expect(page.find('svg[role="img"][aria-label^="as shipped: 40.0 % before, 70.0 % after"]')).not.toBeNull();
  await page.shown(() => /random \d+ %/.test(page.find('figure')!.textContent!));
  expect(page.all('table[aria-label="Settings"] th').map(({ textContent }) => textContent)).toContain(
    'Last 4 iterations',
  );
  const curves = await page.shown(() => page.find('section[aria-label="Learning curves"]'));
  await page.shown(() => curves.querySelectorAll('[data-chart]').length === 2);
  expect(curves.textContent).toMatch(/as shipped \(2 runs\)70\.0 %wide \(2 runs\)70\.0 %/);
  // Two settings, each before and after, with two runs and a mean.
  expect(page.all('figure circle')).toHaveLength(12);
  const all = [`${id}-p1-s1`, `${id}-p1-s2`, `${id}-p2-s1`, `${id}-p2-s2`];
  expect(page.withText('a', 'Compare runs')()?.getAttribute('href')).toBe(`#/compare/${all.join(',')}`);
  await page.click(() => page.find('button[aria-label="Show Results, Markdown"]'));
  const shown = await page.shown(() => page.find('section[aria-label="Results, Markdown"]')?.textContent);
  expect(shown).toMatch(/\| as shipped \| none \| 2 of 2 \| 40\.0 % /);
  await page.click(() => page.find(`a[href="#/run/${id}-p2-s1"]`));
  await page.shown(page.withText('h1', /wide s1/));
});

test('a run that stopped early counts as completed', async () => {
  page = await Page.start();
  const id = await page.core.studies.create({ ...wish, points: [{ name: 'as shipped', set: {} }], seeds: [1] });
  page.open(`#/study/${id}`);
  await page.shown(() => page.find('[title="Seed 1: Not created"]'));
  const stopped = journal.stopped(3, 2, 'early_stop', 'no rollout kept a group for 5 iterations');
  page.world.run(`${id}-p1-s1`, [journal.started(0), journal.iteration(1, 1), journal.iteration(2, 2), stopped]);
  await page.core.supervisor.add(`${id}-p1-s1`);
  await page.shown(() => page.find('[aria-label="Seed 1: Stopped early"]'));
  await page.shown(page.withText('p', /Completed: 1 of 1 runs completed/));
  await page.shown(page.withText('p', 'Runs that stopped early count as completed.'));
  expect(page.withText('button', 'Start')()).toBeFalsy();
});

test('the table counts collapsed runs if runs are long enough', async () => {
  page = await Page.start();
  const id = await page.core.studies.create({ ...wish, set: {} });
  const run = async (place: string, outcome: 'template' | 'healthy', iterations: number) => {
    const points = seriesOf(outcome, { iterations }).filter(({ iteration }) => iteration > 0);
    page.world.run(`${id}-${place}`, journal.complete(points));
    await page.core.supervisor.add(`${id}-${place}`);
  };
  page.open(`#/study/${id}`);
  await page.shown(() => page.find('table[aria-label="Settings"]'));
  expect(page.all('table[aria-label="Settings"] th').map(({ textContent }) => textContent)).not.toContain('Collapsed');
  expect(page.find('main')!.textContent).not.toMatch(/collapsed/i);
  await run('p1-s1', 'template', 200);
  await run('p1-s2', 'healthy', 200);
  await run('p2-s1', 'template', 20);
  await page.shown(() => cells()[5]?.startsWith('1 of 2'));
  expect(cells()[5]).toMatch(/^1 of 29 % to 91 %from iteration \d+1 template, 1 healthy$/);
  expect(cells()[11]).toBe('–');
  expect(page.all('table[aria-label="Settings"] th').map(({ textContent }) => textContent)).toContain('Collapsed');
  expect(page.withText('p', /^A run has collapsed once its success is below half of its peak/)()).toBeDefined();
});

test('a sweep is canceled, and deleted with or without its runs', async () => {
  vi.stubEnv('FAKE_TRAINER_HOLD', '1');
  page = await Page.start(undefined, undefined, { worksQueue: true });
  const id = await page.core.studies.create(wish);
  await page.core.studies.start(id);
  page.open(`#/study/${id}`);
  await page.shown(page.withText('p', /4 queued or running/));
  await page.click(page.withText('button', 'Cancel'));
  await page.shown(page.withText('p', /Incomplete|Not started/));
  await page.shown(page.withText('button', /Resume|Start/));
  await page.click(page.withText('button', 'Delete…'));
  await page.click(inDialog('Cancel'));
  expect(page.core.studies.list()).toHaveLength(1);
  await page.click(page.withText('button', 'Delete…'));
  await page.click(inDialog('Delete with runs'));
  await page.shown(page.withText('.empty', 'No sweeps yet'));
  expect(existsSync(join(page.world.home, 'runs', `${id}-p1-s1`))).toBe(false);
  await page.click(page.withText('.note button', 'Undo'));
  await page.shown(page.withText('a', wish.name));
  await page.shown(() => existsSync(join(page.world.home, 'runs', `${id}-p1-s1`)));
  page.open('#/study/nothing');
  await page.shown(page.withText('.empty', 'Sweep not found'));
});

test('an imported run has a page without unavailable actions', async () => {
  page = await Page.start();
  const path = join(page.world.folder, 'elsewhere.csv');
  writeFileSync(path, 'Step,train/Bandit/success,val-env/Bandit/success\n0,,0.5\n1,0.25,\n2,0.5,0.75\n');
  const { runId } = await importFile(page.world.home, path, { from: 'ragen' });
  await page.core.supervisor.add(runId);
  page.open(`#/run/${runId}`);
  await page.shown(page.withText('h1', 'elsewhere'));
  await page.shown(page.withText('[data-echo-trap]', /Echo Trap.*Not measured.*needs at least 3 iterations/));
  expect(page.find('[data-echo-trap]')!.dataset.tone).toBe('none');
  await page.shown(page.withText('.status-badge', 'Completed'));
  expect(page.withText('button', /^(Start|Resume|Evaluate)/)()).toBeUndefined();
  expect(page.all('.errors .note').map(({ textContent }) => textContent)).toEqual([]);
});

test("the sweeps of a paper's study are created once, from a form that shows what is held constant and the paper's numbers", async () => {
  page = await Page.start();
  page.open('#/studies/new/starter-frozen-lake');
  const study = await page.shown(() => page.find<HTMLSelectElement>('select:has(option[value="figure-10"])'));
  const choose = (value: string) => {
    study.value = value;
    study.dispatchEvent(new Event('change', { bubbles: true }));
  };
  choose('table-2');
  await page.shown(page.withText('dd', /^128 episodes per iteration/));
  const rows = page.all('section[aria-label="Numbers in the paper"] tbody tr').map(({ textContent }) => textContent);
  expect(rows).toContain('Prompts per iteration8 × 16NewVocab21.5 % (16.9 % to 26.9 %)');
  choose('figure-10');
  await page.shown(page.withText('p', /^2 sweeps, 8 runs/));
  await page.click(page.withText('button', 'Create study'));
  await page.shown(() => location.hash === '#/studies');
  const names = () => page.core.studies.list().map(({ name }) => name);
  const created = ['RAGEN: Sokoban, rollout reuse', 'RAGEN: Sokoban, larger rollouts'];
  expect(names()).toEqual(created);
  page.open('#/studies/new/starter-frozen-lake');
  const again = await page.shown(() => page.find<HTMLSelectElement>('select:has(option[value="figure-10"])'));
  again.value = 'figure-10';
  again.dispatchEvent(new Event('change', { bubbles: true }));
  await page.shown(page.withText('p', /^2 sweeps, 8 runs/));
  await page.click(page.withText('button', 'Create study'));
  await page.shown(() => location.hash === '#/studies');
  expect(names()).toEqual(created);
});
