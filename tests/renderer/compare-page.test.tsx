import { afterEach, beforeAll, expect, test, vi } from 'vitest';
import { distinctName } from '../../core/contract/run-names.ts';
import { raiseAlert } from '../core/fixtures/raise-alert.ts';
import { untilRun, World } from '../core/fixtures/world.ts';
import { Page, small } from './page.tsx';

const template = new World();
/** Two seeds of one configuration, and a run with a wider clip range. */
const runs: string[] = [];
beforeAll(async () => {
  const core = await template.core();
  const sets: Record<string, number>[] = [{ seed: 1 }, { seed: 2 }, { seed: 1, 'policy_loss.clip_high': 0.4 }];
  for (const set of sets) {
    const runId = await core.runs.create({ preset: 'starter-frozen-lake', set: { ...small, ...set } });
    await core.runs.start(runId);
    await untilRun(core, runId, ({ status }) => status === 'completed');
    runs.push(runId);
  }
  await core.dispose();
  return () => template.close();
});

let page: Page;
afterEach(() => page.close());

const nameOf = (index: number) => page.core.runs.get(runs[index]!).name;
const chartText = (id: string) => () => page.find(`[data-chart="${id}"] > p.visually-hidden`)?.textContent ?? '';
const table = () =>
  page
    .all('section[aria-label="Settings that differ, by run"] tbody tr')
    .map((row) => [...row.querySelectorAll('code, td')].map(({ textContent }) => textContent));

test('overlays runs and lists the settings that differ', async () => {
  page = await Page.start(template);
  page.open(`#/compare/${runs.join(',')}`);
  await page.shown(page.withText('h1', 'Compare 3 runs'));
  const reward = chartText('rollout/reward_mean');
  await page.shown(() => runs.every((_, index) => reward().includes(`${nameOf(index)}: `)));
  expect(reward()).toMatch(/at iteration 4/);
  // References that apply to all runs, on success charts only.
  for (const id of ['evaluation/frozen-lake/success_rate', 'rollout/success_rate'])
    expect(chartText(id)()).toMatch(/References: random 21 %\./);
  expect(reward()).not.toContain('References');
  expect(table()).toEqual([
    ['seed', '1', '2', '1'],
    ['policy_loss.clip_high', expect.any(String), expect.any(String), '0.4'],
  ]);

  // A run that is unticked keeps its row.
  const tick = (index: number) => `input[aria-label="Compare ${nameOf(index)}"]`;
  await page.click(tick(0));
  await page.shown(() => !reward().includes(nameOf(0)) && reward().includes(nameOf(1)));
  await page.click(tick(0));
  await page.shown(() => reward().includes(nameOf(0)));

  await page.click(tick(2));
  await page.shown(() => location.hash === `#/compare/${runs[1]},${runs[0]}`);
  await page.shown(() => table().length === 1);
  expect(page.all('[aria-label="Runs to compare"] [role="rowheader"]')).toHaveLength(3);
});

test('runs are grouped by a setting in the table and on the charts', async () => {
  page = await Page.start(template);
  page.open(`#/compare/${runs.join(',')}`);
  const group = await page.shown(() =>
    page.find<HTMLSelectElement>('select:has(option[value="policy_loss.clip_high"])'),
  );
  page.choose(group, 'policy_loss.clip_high');
  await page.shown(() => location.hash.endsWith('?group=policy_loss.clip_high'));
  const reward = chartText('rollout/reward_mean');
  await page.shown(() => /clip high 0.28 \(2 runs\): .* at iteration 4/.test(reward()));
  expect(page.all('ul[aria-label="Groups"] li').map(({ textContent }) => textContent)).toEqual([
    'clip high 0.28 (2 runs)',
    'clip high 0.4 (1 run)',
  ]);
  const heads = page.all('[role="rowheader"]').map(({ textContent }) => textContent);
  expect(heads.filter((text) => text?.startsWith('clip high'))).toEqual(['clip high 0.41 run', 'clip high 0.282 runs']);
});

test('alarms of a run are marked on its charts, with its name', async () => {
  page = await Page.start(template);
  const alarm = { kind: 'x', severity: 'warning', iteration: 3, message: 'Success falls.' } as const;
  await raiseAlert(page.core, runs[0]!, alarm);
  await raiseAlert(page.core, runs[1]!, { ...alarm, severity: 'notice' });
  page.open(`#/compare/${runs[0]},${runs[1]}`);
  const reward = chartText('rollout/reward_mean');
  const name = distinctName(page.core.runs.get(runs[0]!));
  await page.shown(() => reward().endsWith(` Marks: ${name}: Alert at iteration 3.`));
});

test('Compare without selected runs lists all runs for selection, and columns can be chosen', async () => {
  page = await Page.start(template);
  page.open('#/compare');
  await page.shown(page.withText('p', 'No runs ticked'));
  await page.click(`input[aria-label="Compare ${nameOf(1)}"]`);
  await page.click(`input[aria-label="Compare ${nameOf(2)}"]`);
  await page.shown(page.withText('h1', 'Compare 2 runs'));
  await page.click(page.withText('button', 'Columns'));
  const choice = () =>
    [...document.querySelectorAll('label')].find(({ textContent }) => textContent?.includes('policy_loss.clip_high'));
  await page.click(choice);
  await page.shown(() => page.find('[data-column="setting:policy_loss.clip_high"][role="cell"]'));
  expect(JSON.parse(localStorage.getItem('starpo-run-tables')!).compare.columns).toContain(
    'setting:policy_loss.clip_high',
  );
});

test('a live run updates in a comparison, and a missing run is reported', async () => {
  page = await Page.start(template);
  vi.stubEnv('FAKE_TRAINER_HOLD', '2');
  const live = await page.core.runs.create({ preset: 'starter-frozen-lake', set: small });
  await page.core.runs.start(live);
  await untilRun(page.core, live, ({ iteration }) => iteration === 2);
  page.open(`#/compare/${runs[0]},${live},never-there`);
  await page.shown(page.withText('[role="status"]', '1 run was not found'));
  const reward = chartText('rollout/reward_mean');
  const { name } = page.core.runs.get(live);
  const at = (iteration: number) => new RegExp(`${name}: \\S+ at iteration ${iteration};`);
  await page.shown(() => at(2).test(reward()));
  await page.core.runs.command(live, 'checkpoint');
  await page.shown(() => at(4).test(reward()));
  vi.unstubAllEnvs();
});

test('a run can be compared with others, which are ticked', async () => {
  page = await Page.start(template);
  page.open(`#/run/${runs[0]}/charts`);
  await page.click(page.withText('a.button', 'Compare with…'));
  await page.click(`input[aria-label="Compare ${nameOf(2)}"]`);
  await page.shown(() => location.hash === `#/compare/${runs[0]},${runs[2]}`);
  await page.shown(page.withText('h1', 'Compare 2 runs'));
});

test("a target appears on the chart for every run, and in the chart's text", async () => {
  page = await Page.start(template);
  page.open(`#/run/${runs[0]}/charts`);
  await page.click(() => page.find('button[aria-label="More for Success"]'));
  const item = (words: string) => () =>
    [...document.querySelectorAll<HTMLElement>('[role="menuitem"]')].find(({ textContent }) =>
      textContent?.includes(words),
    );
  await page.click(item('Set target…'));
  const field = await page.shown(() => document.querySelector<HTMLInputElement>('[role="dialog"] input'));
  page.write(field, '80');
  await page.click(() => document.querySelector<HTMLElement>('[role="dialog"] button[type="submit"]'));
  await page.shown(() => /References: .*target 80\.0 %/.test(chartText('success')()));
  location.hash = `#/run/${runs[1]}/charts`;
  await page.shown(page.withText('h1', nameOf(1)));
  await page.shown(() => chartText('success')().includes('target 80.0 %'));
  expect(JSON.parse(localStorage.getItem('starpo-charts')!)).toMatchObject({ targets: { success: 0.8 } });
  location.hash = `#/compare/${runs[0]},${runs[1]}`;
  await page.shown(() => chartText('evaluation/frozen-lake/success_rate')().includes('random 21 %, target 80.0 %'));
});

test('chart search, folding and pins work, and apply to other runs', async () => {
  page = await Page.start(template);
  page.open(`#/run/${runs[0]}/charts`);
  const ids = () => page.all('[data-chart]').map((chart) => chart.dataset.chart);
  const search = await page.shown(() => page.find<HTMLInputElement>('input[type="search"]'));
  page.write(search, '^actor/grad');
  await page.shown(() => ids().join() === 'gradient-norm,actor/grad_norm');
  page.write(search, 'no such thing');
  await page.shown(page.withText('p', 'No matching metrics'));
  page.write(search, '');
  const fold = page.withText('button[aria-expanded]', /^Overview/);
  await page.click(fold);
  await page.shown(() => fold()?.getAttribute('aria-expanded') === 'false' && !ids().includes('entropy'));
  await page.click(page.withText('button[aria-expanded]', /^Policy update/));
  await page.click(() => page.find('button[aria-label="More for Gradient norm"]'));
  const pin = () =>
    [...document.querySelectorAll<HTMLElement>('[role="menuitemcheckbox"]')].find(({ textContent }) =>
      textContent?.includes('Pin to top'),
    );
  await page.click(pin);
  await page.shown(() => ids()[0] === 'actor/grad_norm');
  location.hash = `#/run/${runs[1]}/charts`;
  await page.shown(page.withText('h1', nameOf(1)));
  await page.shown(() => ids()[0] === 'actor/grad_norm' && !ids().includes('entropy'));
  expect(JSON.parse(localStorage.getItem('starpo-charts')!)).toMatchObject({
    pins: ['actor/grad_norm'],
    open: { overview: false, actor: true },
  });
});
