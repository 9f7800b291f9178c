import { afterAll, beforeAll, expect, test } from 'vitest';
import { search } from '../../renderer/commands/match.ts';
import { useKeyPreference } from '../../renderer/stores/key-preference.ts';
import { untilRun } from '../core/fixtures/world.ts';
import { Page, small } from './page.tsx';

let page: Page;
let runId: string;

beforeAll(async () => {
  page = await Page.start();
  const { runs } = page.core;
  runId = await runs.create({ preset: 'starter-bandit', set: small });
  await runs.start(runId);
  await untilRun(page.core, runId, ({ status }) => status === 'completed');
  await page.core.annotations.annotate({ runId, addTags: ['baseline'] });
});
afterAll(() => page.close());

const key = (name: string, ctrlKey = false) =>
  dispatchEvent(new KeyboardEvent('keydown', { key: name, ctrlKey, cancelable: true }));
const dialog = () => document.querySelector<HTMLElement>('[role="dialog"]');
const input = () => page.shown(() => dialog()?.querySelector('input'));

/** Returns the results as `Group: label`. */
const results = () =>
  [...document.querySelectorAll('[role="dialog"] [role="group"]')].flatMap((group) => {
    const title = document.getElementById(group.getAttribute('aria-labelledby')!)!.textContent;
    return [...group.querySelectorAll('[role="option"]')].map((option) => {
      const [, label] = option.children;
      return `${title}: ${label!.textContent}`;
    });
  });

/** Searches in the palette on the current page, waits for a result and chooses it. */
async function find(query: string, result: string): Promise<void> {
  key('k', true);
  page.write(await input(), query);
  await page.shown(() => results().includes(result));
  [...document.querySelectorAll<HTMLElement>('[role="option"]')][results().indexOf(result)]!.click();
  await page.shown(() => !dialog());
}

/** Does the same, then waits for the page of the result. */
async function open(query: string, result: string, hash: string): Promise<void> {
  const moved = new Promise((resolve) => addEventListener('hashchange', resolve, { once: true }));
  await find(query, result);
  await moved;
  expect(location.hash).toBe(hash);
}

test('the palette finds presets, settings, metrics, checkpoints, tags, models and pages', async () => {
  page.open(`#/run/${runId}`);
  await page.shown(page.withText('h1', 'Bandit'));

  await open('gradient norm', 'Metrics: Gradient norm', `#/run/${runId}/charts`);
  const charts = await page.shown(() => page.find<HTMLInputElement>('#main input[type="search"]'));
  await page.shown(() => charts.value === 'actor/grad_norm');
  await open('config', 'Tabs of this run: Configuration', `#/run/${runId}/configuration`);
  await open('checkpoint 4', 'Checkpoints of this run: Fork from checkpoint 4', `#/new/run/${runId}/4`);
  await find('lr', 'Settings: Learning rate');
  const settings = await page.shown(() => page.find<HTMLInputElement>('input[aria-label="Search all settings"]'));
  await page.shown(() => settings.value === 'optimizer.learning_rate');
  // A search keeps the form's edits.
  expect(location.hash).toBe(`#/new/run/${runId}/4`);
  await open('baseline', 'Tags: baseline', '#/history');
  await page.shown(page.withText('#main [role="status"]', '1 of 1'));
  await open('trap', 'Presets: FrozenLake, watch it collapse', '#/new/starter-frozen-lake-trap');
  await open('starter policy', 'Models: Starter policy', '#/models');
  await open('theme', 'Settings: Theme', '#/settings');
  await open('queue', 'Go to: Queue', '#/queue');

  key('k', true);
  page.write(await input(), 'qqq');
  await page.shown(() => dialog()?.textContent?.includes('No results for “qqq”'));
  key('k', true);
  await page.shown(() => !dialog());
});

test('single keys of a run act on its page only, none acts behind a dialog, and all can be turned off', async () => {
  page.open(`#/run/${runId}`);
  await page.shown(page.withText('h1', 'Bandit'));
  key('r');
  const name = await input();
  // An open dialog receives the keys.
  key('n');
  expect(location.hash).toBe(`#/run/${runId}`);
  name.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true }));
  await page.shown(() => !dialog());
  key('s');
  await page.shown(() => page.core.runs.get(runId).marks.starred);

  location.hash = '#/history';
  await page.shown(page.withText('h1', 'History'));
  key('r');
  expect(dialog()).toBeNull();
  useKeyPreference.getState().setSingleKeys(false);
  key('n');
  expect(location.hash).toBe('#/history');
  useKeyPreference.getState().setSingleKeys(true);
  key('n');
  await page.shown(page.withText('h1', 'New run'));
});

test('results start with the best match; the limit applies per group', () => {
  const group = (value: string, ...labels: string[]) => ({ value, items: labels.map((label) => ({ label })) });
  const groups = [
    group('A', 'Entropy coefficient', 'Learning rate', 'Rate limit', 'Rate'),
    group('B', 'Rate', 'Iterations', 'Narrate'),
    group('C', 'Learning rate decay'),
  ];
  const labels = (query: string, limit = 8) =>
    search(groups, query, limit).map(({ value, items }) => [value, ...items.map(({ label }) => label)]);
  expect(labels('rate')).toEqual([
    ['A', 'Rate', 'Rate limit', 'Learning rate'],
    ['B', 'Rate', 'Narrate'],
    ['C', 'Learning rate decay'],
  ]);
  expect(labels('rate', 1)).toEqual([
    ['A', 'Rate'],
    ['B', 'Rate'],
    ['C', 'Learning rate decay'],
  ]);
  expect(labels('lr')).toEqual([
    ['A', 'Learning rate'],
    ['C', 'Learning rate decay'],
  ]);
  expect(labels('iter')).toEqual([['B', 'Iterations']]);
  expect(labels('rate learn')[0]).toEqual(['A', 'Learning rate']);
  expect(labels('rxte')).toEqual([]);
});
