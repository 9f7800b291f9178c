import { afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import type { Thoughts } from '../../core/contract/contract.ts';
import { createHandlers } from '../../core/server/handlers.ts';
import { openingCounts } from '../../renderer/episodes/thought-tree.ts';
import { play, preset, small } from '../core/fixtures/played.ts';
import { untilRun, World } from '../core/fixtures/world.ts';
import { Page } from './page.tsx';

const template = new World();
let runId: string;
beforeAll(async () => {
  play(template, 'template');
  const core = await template.core();
  const set = { ...small, iterations: 6, 'rollout.groups': 2, 'rollout.group_size': 8 };
  runId = await core.runs.create({ preset, set });
  await core.runs.start(runId);
  await untilRun(core, runId, ({ status }) => status === 'completed');
  await core.dispose();
  vi.unstubAllEnvs();
  return () => template.close();
});

let page: Page;
beforeEach(async () => {
  page = await Page.start(template);
});
afterEach(() => page.close());

const thoughtsOf = (iteration: number): Promise<Thoughts> =>
  Promise.resolve(createHandlers(page.core)['rollouts.thoughts']({ runId, iteration }));
const tree = (iteration: number) => () => page.find(`ul[aria-label="First reasoning of iteration ${iteration}"]`);
const fact = (name: string) => page.withText('dl > div', name)()?.querySelector('dd')?.textContent;

test("shows an iteration's first reasoning as a tree, and the slider changes the iteration", async () => {
  page.open(`#/run/${runId}/thoughts/2`);
  await page.shown(tree(2));
  const { thoughts, episodes } = await thoughtsOf(2);
  expect(fact('Episodes')).toBe(String(episodes));
  expect(fact('Distinct openings')).toBe(String(openingCounts(thoughts).length));
  const roots = [...tree(2)()!.children];
  const counts = roots.map((root) => Number(root.textContent!.match(/(\d+) of 16 episodes/)![1]));
  expect(counts.reduce((sum, count) => sum + count)).toBe(episodes);
  const slider = page.find<HTMLInputElement>('input[type="range"]')!;
  expect(slider.getAttribute('aria-valuetext')).toBe('Iteration 2');
  page.write(slider, '4');
  await page.shown(tree(5));
  expect(location.hash).toBe(`#/run/${runId}/thoughts/5`);
});

test('shows the newest iteration by default, and plays all from the first', async () => {
  page.open(`#/run/${runId}/thoughts`);
  await page.shown(tree(6));
  await page.click('button[aria-label="Play iterations"]');
  await page.shown(tree(1));
  await page.click('button[aria-label="Pause"]');
  await page.shown(() => page.find('button[aria-label="Play iterations"]'));
});

test('a branch links to its episodes, and the filter can be removed', async () => {
  page.open(`#/run/${runId}/thoughts/3`);
  const { thoughts } = await thoughtsOf(3);
  const goal = await page.shown(() =>
    page.all<HTMLAnchorElement>('a[title]').find(({ title }) => title.startsWith('I go to the goal.')),
  );
  const matching = thoughts.filter(({ text }) => text.startsWith('I go to the goal.'));
  const count = matching.reduce((sum, each) => sum + each.count, 0);
  location.hash = goal.getAttribute('href')!;
  await page.shown(page.withText('[role="status"]', 'First reasoning'));
  const rows = () => page.all('.episode-table tbody tr').length;
  const whole = location.hash.includes('/thought/');
  await page.shown(() => rows() === (whole ? matching[0]!.count : count));
  await page.shown(page.withText('.turn', 'I go to the goal.'));
  await page.click('.episode-table tbody tr:last-child a');
  await page.shown(() => decodeURIComponent(location.hash).endsWith('I go to the goal.'));
  await page.click('button[aria-label="Show all episodes"]');
  await page.shown(() => rows() === 16);
});

test('an iteration without episodes shows an error', async () => {
  page.open(`#/run/${runId}/thoughts/99`);
  await page.shown(page.withText('[role="alert"]', 'rollout_unknown'));
});
