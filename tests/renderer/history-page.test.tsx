import { appendFileSync, copyFileSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { receivePart } from '../../core/imports/exchange.ts';
import { useFilter } from '../../renderer/pages/history/filter.ts';
import { useRunTables } from '../../renderer/run-table/preferences.ts';
import { useApp } from '../../renderer/stores/app-store.ts';
import { useDialogs } from '../../renderer/stores/dialogs-store.ts';
import { fakeRollout } from '../core/fixtures/fake-rollout.mjs';
import * as journal from '../core/fixtures/journal.ts';
import { untilRun, World } from '../core/fixtures/world.ts';
import { Page, small } from './page.tsx';

/** Three ended runs by the fake trainer, one with searchable episodes. */
const template = new World();
const ids: Record<'lake' | 'bandit' | 'stopped', string> = { lake: '', bandit: '', stopped: '' };
beforeAll(async () => {
  const core = await template.core();
  const train = async (preset: string, set: object = {}) => {
    const runId = await core.runs.create({ preset, set: { ...small, ...set } });
    await core.runs.start(runId);
    return (await untilRun(core, runId, ({ status }) => status === 'completed')).id;
  };
  ids.lake = await train('starter-frozen-lake');
  ids.bandit = await train('starter-bandit');
  ids.stopped = await train('starter-frozen-lake-grpo', { iterations: 2 });
  await core.dispose();
  return () => template.close();
});

let page: Page;
beforeEach(() => void vi.stubEnv('FAKE_TRAINER_HOLD', '0'));
afterEach(async () => {
  await page.close();
  useFilter.getState().clear();
  vi.unstubAllEnvs();
  vi.unstubAllGlobals();
});

/** Searches dialogs too. */
const anywhere = (selector: string, text: string | RegExp) => () =>
  [...document.querySelectorAll<HTMLElement>(selector)].find((each) => each.textContent?.match(text));
const inDialog = (text: string | RegExp) => anywhere('[role="dialog"] button', text);
const rows = () => page.all('[role="row"]').slice(1);
const rowOf = (runId: string) => () => rows().find((row) => row.querySelector(`a[href$="${runId}"]`));
const box = (runId: string) => () => rowOf(runId)()?.querySelector<HTMLElement>('input[type="checkbox"]');
const names = () => rows().map((row) => row.querySelector('[role="rowheader"] a')?.getAttribute('title') ?? '');

test('runs are filtered by words and chips, and sorted by column', async () => {
  page = await Page.start(template);
  await page.core.annotations.annotate({ runId: ids.bandit, addTags: ['good'], note: 'the arms, swapped' });
  useRunTables.getState().change('history', { columns: ['status', 'success', 'disk'] });
  page.open('#/history');
  await page.shown(() => rows().length === 3);
  const success = await page.shown(page.withText('[role="columnheader"] button', 'Success'));
  success.click();
  await page.shown(() => page.find('[aria-sort="descending"]')?.textContent === 'Success');
  const rates = rows().map((row) => Number.parseFloat(row.querySelector('[data-column="success"]')!.textContent!));
  expect(rates).toEqual(rates.toSorted((a, b) => b - a));
  await page.shown(() => rowOf(ids.lake)()?.querySelector('[data-column="disk"]')?.textContent?.match(/[kM]B/));

  const search = page.find<HTMLInputElement>('input[aria-label="Search runs"]')!;
  page.write(search, 'swapped ARMS');
  await page.shown(() => rows().length === 1 && rowOf(ids.bandit)());
  await page.shown(page.withText('[role="status"]', '1 of 3'));
  page.write(search, 'iterations=2');
  await page.shown(() => rows().length === 1 && rowOf(ids.stopped)());
  page.write(search, 'nothing like that');
  await page.click(page.withText('button', 'Clear filters'));
  await page.click(page.withText('.toggle', /^FrozenLake/));
  await page.shown(() => rows().length === 2 && !rowOf(ids.bandit)());
  await page.click(page.withText('.toggle', /^FrozenLake/));
  await page.click(page.withText('.toggle', /^good/));
  await page.shown(() => names().length === 1 && rowOf(ids.bandit)());
});

test('several runs are deleted after confirmation, and restored', async () => {
  page = await Page.start(template);
  page.open('#/history');
  for (const runId of [ids.lake, ids.bandit]) await page.click(box(runId));
  await page.click(page.withText('button', 'Delete…'));
  await page.shown(anywhere('[role="dialog"]', /Delete 2 runs\?.*on disk.*7 days/));
  await page.click(inDialog('Cancel'));
  expect(page.core.runs.list()).toHaveLength(3);
  await page.click(page.withText('button', 'Delete…'));
  await page.click(inDialog(/^Delete$/));
  await page.shown(() => rows().length === 1);
  await page.shown(page.withText('.errors', '2 runs deleted.'));
  await page.click(page.withText('.errors button', 'Undo'));
  await page.shown(() => rows().length === 3);

  const id = await page.core.studies.create({
    ...{ name: 'Seeds', base: { preset: 'starter-bandit' }, set: small, points: [{ name: 'preset', set: {} }] },
    ...{ seeds: [1], environment: 'bandit', start: false },
  });
  await page.core.trash.delete([ids.stopped]);
  await page.click(page.withText('a', 'Trash'));
  await page.shown(page.withText('span', '1 deleted run'));
  await page.core.studies.delete(id, false);
  await page.shown(page.withText('span', '1 deleted run and 1 deleted sweep'));
  await page.click(page.withText('tr button', 'Restore'));
  await page.shown(() => page.core.studies.list().length === 1);
  await page.click(page.withText('button', 'Restore'));
  await page.shown(page.withText('p', 'The trash is empty'));
  expect(page.core.runs.list()).toHaveLength(3);
});

test('running runs are skipped when a selection is deleted or archived', async () => {
  page = await Page.start(template);
  vi.stubEnv('FAKE_TRAINER_HOLD', '1');
  const runId = await page.core.runs.create({ preset: 'starter-bandit', set: small });
  await page.core.runs.start(runId);
  await untilRun(page.core, runId, ({ iteration }) => iteration === 1);
  page.open('#/history');
  for (const each of [runId, ids.bandit]) await page.click(box(each));
  await page.click(page.withText('button', /^Archive$/));
  await page.shown(() => rows().length === 3 && rowOf(runId)());
  expect(page.core.runs.get(runId).marks.archived).toBe(false);
  await page.click(box(ids.lake));
  await page.click(page.withText('button', 'Delete…'));
  await page.shown(anywhere('[role="dialog"]', /1 run is running or paused and won't be deleted/));
  await page.click(inDialog(/^Delete$/));
  await page.shown(() => rows().length === 2 && rowOf(runId)() && !rowOf(ids.lake)());
});

test('runs are renamed, tagged, cleaned, and opened from the palette by the new name', async () => {
  page = await Page.start(template);
  page.open('#/history');
  await page.click(() => rowOf(ids.lake)()?.querySelector<HTMLElement>('[aria-label^="More for"]'));
  await page.click(anywhere('[role="menuitem"]', 'Rename…'));
  const name = await page.shown(() => document.querySelector<HTMLInputElement>('[role="dialog"] input'));
  page.write(name, 'x'.repeat(81));
  await page.shown(anywhere('[role="dialog"] small', '81 of 80 characters'));
  expect(document.querySelector<HTMLButtonElement>('[role="dialog"] [type="submit"]')!.disabled).toBe(true);
  page.write(name, 'The long walk');
  name.form!.requestSubmit();
  await page.shown(() => names().includes('The long walk'));

  await page.core.annotations.annotate({ runId: ids.bandit, starred: true });
  for (const runId of [ids.lake, ids.bandit]) await page.click(box(runId));
  await page.click(page.withText('button', 'Tag…'));
  const tag = await page.shown(() => document.querySelector<HTMLInputElement>('[role="dialog"] input'));
  page.write(tag, '-no tag');
  await page.shown(anywhere('[role="dialog"] small', 'Start with a letter or digit'));
  page.write(tag, 'both');
  tag.form!.requestSubmit();
  await page.shown(() => page.all('[role="row"] .tag').filter((each) => each.textContent === 'both').length === 2);

  await page.click(page.withText('button', /^Free space…$/));
  // Nothing is selected at first, and the starred run is left out.
  await page.shown(inDialog(/^Free$/));
  await page.click(anywhere('[role="dialog"] label', 'Training episodes'));
  await page.click(inDialog(/^Free \d/));
  await page.shown(page.withText('.errors', / freed\./));
  const episodesOf = (runId: string) => join(page.core.runs.folder(runId), 'rollouts/000004-train.jsonl.zst');
  expect(existsSync(episodesOf(ids.lake))).toBe(false);
  expect(existsSync(episodesOf(ids.bandit))).toBe(true);

  dispatchEvent(new KeyboardEvent('keydown', { key: 'k', ctrlKey: true, cancelable: true }));
  const find = await page.shown(() => document.querySelector<HTMLInputElement>('[role="dialog"] input'));
  page.write(find, 'long walk');
  await page.click(anywhere('[role="option"]', 'The long walk'));
  await page.shown(page.withText('h1', 'The long walk'));
  expect(location.hash).toBe(`#/run/${ids.lake}`);
});

test("folders that can't be read are listed with the reason", async () => {
  const world = new World();
  template.copyRunsTo(world);
  writeFileSync(join(world.run('broken-run'), 'run.json'), '');
  page = await Page.startIn(world);
  page.open('#/history');
  await page.shown(page.withText('summary', "1 folder can't be read"));
  await page.shown(page.withText('details li', /^broken-run: .*run\.json/));
});

test('episode search links to the replay', async () => {
  page = await Page.start(template);
  const { core } = page;
  const folder = core.runs.folder(ids.lake);
  const lake = { type: 'frozen-lake', label: 'frozen-lake' };
  const rollout = fakeRollout(folder, {}, 5, 'train', lake, 1, 4);
  const time = 1_700_000_000_000;
  appendFileSync(
    join(folder, 'events.jsonl'),
    `${JSON.stringify({ v: 1, seq: 9000, time, type: 'rollout', ...rollout })}\n${journal.stopped(9001, 5)}\n`,
  );
  await core.supervisor.refresh(ids.lake);
  await core.episodeIndex.indexAll();
  page.open('#/history/episodes');
  const search = await page.shown(() => page.find<HTMLInputElement>('input[type="search"]'));
  await page.shown(() => page.find(`main option[value="${ids.lake}"]`));
  const runs = page.find<HTMLSelectElement>('main select')!;
  runs.value = ids.lake;
  runs.dispatchEvent(new Event('change', { bubbles: true }));
  page.write(search, 'goal');
  const found = await page.shown(page.withText('a', /player 0 goal 3 3.*iteration 5, training, FrozenLake/s));
  expect([...found.querySelectorAll('mark')].map(({ textContent }) => textContent)).toContain('goal');
  page.write(search, 'nobody says this');
  await page.shown(page.withText('p', 'No matching episodes'));
  page.write(search, 'goal');
  await page.click(page.withText('a', /player 0 goal 3 3/));
  await page.shown(() => location.hash.startsWith(`#/run/${ids.lake}/replay/000005-train-`));
});

test('repeated requests for more episodes show them once', async () => {
  page = await Page.start(template);
  const { core } = page;
  const folder = core.runs.folder(ids.lake);
  const rollout = fakeRollout(folder, {}, 5, 'train', { type: 'frozen-lake', label: 'frozen-lake' }, 20, 4);
  const event = { v: 1, seq: 9000, time: 1_700_000_000_000, type: 'rollout', ...rollout };
  appendFileSync(join(folder, 'events.jsonl'), `${JSON.stringify(event)}\n${journal.stopped(9001, 5)}\n`);
  await core.supervisor.refresh(ids.lake);
  await core.episodeIndex.indexAll();
  const total = (await core.history.reader.call('search', { text: '', limit: 100 })).episodes.length;
  expect(total).toBeGreaterThan(50);
  const search = vi.spyOn(core.history.reader, 'call');
  page.open('#/history/episodes');
  const links = () => page.all<HTMLAnchorElement>('ul[aria-label="Episodes"] a').map(({ href }) => href);
  await page.shown(() => links().length === 50);
  const more = () => page.withText('main button', 'Show more')()!;
  const searches = search.mock.calls.length;
  for (let again = 0; again < 2; again += 1) more().click();
  await page.shown(() => search.mock.calls.length === searches + 2 && links().length >= total);
  expect(links()).toHaveLength(total);
  expect(new Set(links()).size).toBe(total);
});

test('a run is exported as one file and imported again', async () => {
  page = await Page.start(template);
  // Like Electron's preload: the system dialogs use a known path.
  const { home } = page.world;
  const kept = join(home, 'kept.zip');
  const silent = () => () => {};
  vi.stubGlobal('starpo', {
    ...{ chooseNotifications: () => {}, onCommand: silent, onOpenPage: silent },
    save: async (exportId: string) => {
      const folder = join(home, 'exports', exportId);
      copyFileSync(join(folder, readdirSync(folder)[0]!), kept);
      return { place: kept, problem: null };
    },
    upload: async (file: string, offset: number, part: Uint8Array) => {
      expect(await receivePart(home, file, offset, part)).toBeNull();
      return { problem: null };
    },
  });
  const choose = async (content: Buffer) => {
    const input = await page.shown(() =>
      document.querySelector<HTMLInputElement>('[role="dialog"] input[type="file"]'),
    );
    Object.defineProperty(input, 'files', {
      configurable: true,
      value: [new File([new Uint8Array(content)], 'kept.zip')],
    });
    input!.dispatchEvent(new Event('change', { bubbles: true }));
  };
  page.open(`#/run/${ids.bandit}`);
  await page.click(page.withText('button', 'Export…'));
  await page.click(inDialog(/^Export$/));
  await page.shown(page.withText('.errors', `Saved in ${kept}.`));
  await page.shown(() => readdirSync(join(home, 'exports')).length === 0);
  // A truncated file is rejected and leaves no files; then the complete file is imported.
  const whole = readFileSync(kept);
  const runs = readdirSync(join(home, 'runs'));
  page.open('#/history');
  await page.click(page.withText('button', 'Import runs…'));
  await choose(whole.subarray(0, whole.length - 30));
  await page.shown(anywhere('[role="dialog"] [role="alert"]', /it is not a readable zip file/));
  expect(readdirSync(join(home, 'runs'))).toEqual(runs);
  await choose(whole);
  await page.shown(anywhere('[role="dialog"] small', 'Run bundle'));
  await page.click(inDialog(/^Import$/));
  await page.shown(page.withText('.errors', 'Run imported.'));
  await expect.poll(() => readdirSync(join(home, 'exchange'))).toEqual([]);
  await page.shown(() => location.hash.startsWith(`#/run/${ids.bandit}-`));
  // A file that is dropped before the page is connected is read afterwards.
  const connected = Promise.withResolvers<void>();
  useApp.setState({ connection: 'connecting' });
  page.open('#/start', connected.promise);
  const content = new File([new Uint8Array(whole)], 'kept.zip');
  useDialogs.getState().openDialog({ kind: 'import', files: [{ name: 'kept.zip', content }] });
  await page.shown(anywhere('[role="dialog"] h2', 'Import runs'));
  connected.resolve();
  await page.shown(anywhere('[role="dialog"] small', 'Run bundle'));
  await page.click(inDialog(/^Cancel$/));
});
