import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { findPreset } from '../../core/presets/presets.ts';
import { starter } from '../core/fixtures/playable.ts';
import { installSample, sampleOf } from '../core/fixtures/sample.ts';
import { untilRun } from '../core/fixtures/world.ts';
import { Page, small } from './page.tsx';

let page: Page;
let sample: Buffer;
beforeAll(async () => {
  sample = await sampleOf(4);
});
beforeEach(() => {
  vi.stubEnv('FAKE_TRAINER_HOLD', '1');
  vi.stubEnv('HF_HUB_CACHE', '/nowhere');
});
afterEach(async () => {
  await page.close();
  vi.unstubAllEnvs();
});

test('one click on a preset starts a run and opens its page', async () => {
  page = await Page.start();
  page.open('#/start');
  await page.click('button[aria-label="Start FrozenLake, StarPO-S (GRPO)"]');
  await page.shown(() => location.hash.startsWith('#/run/'));
  const [run, ...others] = page.core.runs.list();
  expect(others).toEqual([]);
  expect(location.hash).toBe(`#/run/${run!.id}`);
  expect(run!.preset).toBe('starter-frozen-lake-grpo-s');
  await page.shown(page.withText('.status-badge', 'Running'));
});

test('the main preset can be started by keyboard', async () => {
  page = await Page.start();
  page.open('#/start');
  await page.shown(() => page.find('form[data-starts-run] [type="submit"]:enabled'));
  dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', ctrlKey: true, cancelable: true }));
  await page.shown(() => location.hash.startsWith('#/run/'));
  expect(page.core.runs.list()[0]?.preset).toBe('starter-frozen-lake-grpo-s');
});

test('the algorithm applies to every preset and is explained', async () => {
  page = await Page.start();
  page.open('#/start');
  await page.shown(page.withText('h2', 'Watch it learn: FrozenLake'));
  expect(page.all('article h3').map(({ textContent }) => textContent)).toEqual([
    'FrozenLake, watch it collapse',
    'FrozenLake, slippery',
    'Sokoban',
    'Bandit',
    'FrozenLake and Bandit',
    'WebShop',
  ]);
  const radios = page.all<HTMLInputElement>('input[type="radio"]');
  const chosen = () => radios.filter(({ checked }) => checked).map(({ labels }) => labels![0]!.textContent);
  expect(radios).toHaveLength(5);
  expect(chosen()).toEqual(['Recommended']);
  const method = () => page.find('#algorithm-method')!.textContent;
  expect(method()).toContain(`${findPreset('starter-frozen-lake').algorithm}, which beat StarPO-S (PPO)`);
  expect(method()).toContain(`All other presets use ${findPreset('starter-webshop').algorithm}.`);
  for (const task of ['FrozenLake, slippery, StarPO-S (GRPO)', 'Sokoban, StarPO-S (GRPO)', 'WebShop, StarPO-S (PPO)'])
    expect(page.find(`button[aria-label="Start ${task}"]`)).not.toBeNull();

  radios.at(-1)!.click();
  await page.shown(() => chosen().join() === 'StarPO (GRPO)');
  expect(method()).toBe(`Baseline ${findPreset('starter-frozen-lake-grpo').method}`);
  const other = page.find<HTMLSelectElement>('select[aria-label="Other algorithm"]')!;
  page.choose(other, 'GiGPO');
  await page.shown(() => chosen().length === 0);
  expect(method()).toContain(findPreset('starter-frozen-lake-gigpo').method);
  expect(page.find('button[aria-label="Start Sokoban, GiGPO"]')).not.toBeNull();
  expect(page.find('button[aria-label="Start Bandit, StarPO-S (PPO)"]')).not.toBeNull();
  expect(page.find('button[aria-label="Start WebShop, GiGPO"]')).not.toBeNull();
  await page.click('input[value="Recommended"]');
  await page.shown(() => page.find(`button[aria-label="Start WebShop, StarPO-S (PPO)"]`));
  radios.at(-1)!.click();
  await page.shown(() => chosen().join() === 'StarPO (GRPO)');
  // The preset that collapses on purpose ignores the choice.
  expect(page.find('button[aria-label="Start FrozenLake, watch it collapse, StarPO (GRPO)"]')).not.toBeNull();
  await page.click('button[aria-label="Start FrozenLake, slippery, StarPO (GRPO)"]');
  await page.shown(() => location.hash.startsWith('#/run/'));
  expect(page.core.runs.list()[0]?.preset).toBe('starter-frozen-lake-slippery-grpo');
});

test('the essential settings and the automatic action are used by the run', async () => {
  page = await Page.start();
  page.open('#/start');
  const field = await page.shown(
    () =>
      page
        .all<HTMLInputElement>('form label input')
        .find(({ labels }) => labels?.[0]?.textContent === 'Prompts per iteration') ?? null,
  );
  page.write(field, '4');
  await page.shown(() => field.dataset.changed);
  const choice = page.find<HTMLSelectElement>('section[aria-label="Settings for all presets"] label select')!;
  expect([...choice.options].map(({ text }) => text)).toEqual(['Notify', 'Pause', 'Stop', 'Roll back']);
  choice.value = 'rollback';
  choice.dispatchEvent(new Event('change', { bubbles: true }));
  await page.shown(page.withText('p', /last healthy checkpoint/));
  const configure = await page.shown(page.withText('form a', 'Configure'));
  expect(configure.getAttribute('href')).toContain('?automatic_action=rollback&rollout.groups=4');
  await page.click('button[aria-label="Start FrozenLake, StarPO-S (GRPO)"]');
  await page.shown(() => location.hash.startsWith('#/run/'));
  const config = await page.core.runs.config(page.core.runs.list()[0]!.id);
  expect(config).toMatchObject({ automatic_action: 'rollback', rollout: { groups: 4 }, seed: 1 });
});

test('a local model opens the form with the chosen settings', async () => {
  page = await Page.start();
  const mine = join(page.world.home, 'my-model');
  cpSync(starter, mine, { recursive: true });
  page.core.models.add(mine);
  page.open('#/start');
  const models = await page.shown(() =>
    page
      .all<HTMLSelectElement>('form[data-starts-run] select')
      .find(({ options }) => [...options].some(({ text }) => text === 'my-model…')),
  );
  page.choose(page.find<HTMLSelectElement>('section[aria-label="Settings for all presets"] label select')!, 'rollback');
  await page.shown(page.withText('p', /last healthy checkpoint/));
  page.choose(models, mine);
  const query = new URLSearchParams({ automatic_action: 'rollback', 'start.model': mine });
  await page.shown(() => location.hash === `#/new/starter-frozen-lake-starpo-s?${query}`);
});

test('the time estimate explains its basis', async () => {
  page = await Page.start();
  page.open('#/start');
  await page.shown(page.withText('form', /\d–\d+ (s|min|h) on this machine \(typical time; measured/));
});

test('the essential settings are validated and update the time estimate', async () => {
  page = await Page.start();
  page.open('#/start');
  const minutes = () => Number(page.find('form')?.textContent?.match(/–(\d+) min on this machine/)?.[1]);
  const usual = await page.shown(() => minutes() || null);
  const field = page.all<HTMLInputElement>('form label input').find(({ value }) => value === '120')!;
  page.write(field, '-5');
  await page.shown(page.withText('form [role="status"]', /Iterations must be/));
  expect(field.getAttribute('aria-invalid')).toBe('true');
  expect(page.find('form')!.textContent).not.toContain('on this machine');
  page.write(field, '480');
  await page.shown(() => minutes() > 3 * usual);
  expect(field.getAttribute('aria-invalid')).toBeNull();
});

test("a trainer that can't start shows the reason and disables the presets", async () => {
  page = await Page.start(undefined, '/nowhere/starpo-trainer');
  page.open('#/start');
  await page.shown(page.withText('[role="alert"]', /trainer_unavailable/));
  await page.shown(page.withText('[role="alert"]', /npm run setup/));
  await page.shown(() => page.find<HTMLButtonElement>('button[aria-label^="Start "]')?.disabled);
});

test('without a GPU, presets of published models are collapsed and explain what is missing', async () => {
  page = await Page.start();
  page.open('#/start');
  const section = 'section[aria-labelledby="published-models"]';
  await page.shown(page.withText(`${section} button`, /No usable GPU/));
  expect(page.find(`${section} article`)).toBeNull();
  await page.click(`${section} button[aria-expanded]`);
  await page.shown(page.withText(`${section} [role="status"]`, /need a GPU. A test double has no GPU/));
  await page.shown(page.withText(section, /was not found in/));
  expect(page.find(`${section} a[href="#/models/Qwen/Qwen2.5-0.5B-Instruct"]`)?.textContent).toBe('Download…');
  const start = page.find<HTMLButtonElement>(
    `${section} button[aria-label="Start Sokoban, Qwen2.5 0.5B, StarPO-S (PPO)"]`,
  );
  expect(start?.disabled).toBe(true);
  expect(page.find(section)!.textContent).toMatch(/Needs about \d+ GB of GPU memory/);
  await page.click(page.withText(`${section} button`, /^3B$/));
  await page.shown(page.withText(section, /Qwen2\.5-3B-Instruct was not found in/));
  expect(page.core.runs.list()).toEqual([]);
});

test('with a GPU and a model folder, presets of published models start from that folder', async () => {
  vi.stubEnv('FAKE_TRAINER_GPU', String(24e9));
  page = await Page.start();
  const folderOf = (name: string) => {
    const folder = join(page.world.home, name);
    mkdirSync(folder, { recursive: true });
    for (const file of ['config.json', 'tokenizer.json', 'model.safetensors']) writeFileSync(join(folder, file), '{}');
    return folder;
  };
  const found = folderOf('models/Qwen2.5-0.5B-Instruct');
  const elsewhere = folderOf('elsewhere');
  page.open('#/start');
  const label = 'Start Bandit, Qwen2.5 0.5B, StarPO-S (PPO)';
  const start = () => page.find<HTMLButtonElement>(`button[aria-label="${label}"]`);
  await page.shown(() => start()?.disabled === false);
  const field = page.find<HTMLInputElement>('section[aria-labelledby="published-models"] .text-field')!;
  expect(field.placeholder).toBe(found);
  expect(page.find('section[aria-labelledby="published-models"]')?.textContent).toContain('; this GPU has 24.0 GB');
  field.value = elsewhere;
  field.dispatchEvent(new FocusEvent('focusout', { bubbles: true }));
  await page.shown(
    () => page.find<HTMLInputElement>('section[aria-labelledby="published-models"] .text-field')?.value === elsewhere,
  );
  await page.click(start);
  await page.shown(() => location.hash.startsWith('#/run/'));
  const [run] = page.core.runs.list();
  expect(run!.preset).toBe('qwen2.5-0.5b-bandit-starpo-s');
  expect(await page.core.runs.config(run!.id)).toMatchObject({ start: { model: elsewhere } });
  // The fake trainer reports a memory plan only with a GPU.
  location.hash = `#/run/${run!.id}/configuration`;
  await page.shown(page.withText('summary', /Memory16\.8 GB of 24\.0 GB on cuda:0/));
  const rows = page.all('.memory tbody tr').map(({ textContent }) => textContent);
  expect(rows).toHaveLength(3);
  expect(rows[1]).toBe('KV cache of all episodesduring rollout4.80 GB');
  const bars = page.all('.memory-bar').map((bar) => bar.getAttribute('aria-label'));
  expect(bars).toEqual(['during rollout 12.0 GB, 50 %', 'during update 16.8 GB, 70 %']);
});

test('while another run trains, it asks whether to queue or start, and the queue can be reordered', async () => {
  page = await Page.start();
  const { core } = page;
  const make = (preset: string) => core.runs.create({ preset, set: small });
  const trained = await make('starter-frozen-lake');
  await core.runs.start(trained);
  await untilRun(core, trained, ({ iteration }) => iteration === 1);
  const waiting = [await make('starter-sokoban'), await make('starter-frozen-lake-slippery')];
  for (const id of waiting) core.queue.add(id);
  const nameOf = (id: string) => core.runs.get(id).name;
  page.open('#/start');
  await page.shown(() => page.find('a[href="#/queue"] .nav-count')?.textContent === '2 queued');

  await page.click('button[aria-label="Start Bandit, StarPO-S (PPO)"]');
  const dialog = () => document.querySelector('[role="dialog"]');
  await page.shown(() => dialog()?.textContent?.includes(`${nameOf(trained)} is training: iteration 1 of 4`));
  expect(dialog()?.textContent).toContain('2 runs are queued.');
  const answer = (words: string) =>
    [...dialog()!.querySelectorAll('button')].find(({ textContent }) => textContent === words)!;
  answer('Cancel').click();
  await page.shown(() => dialog() === null);
  expect(core.runs.list()).toHaveLength(3);
  await page.click('button[aria-label="Start Bandit, StarPO-S (PPO)"]');
  await page.shown(dialog);
  answer('Add to queue').click();
  await page.shown(page.withText('[role="status"]', 'Bandit was added to the queue.'));
  expect(location.hash).toBe('#/start');

  await page.click(page.withText('[role="status"] a', 'Open queue'));
  const order = () => page.all('section[aria-labelledby="queue"] a').map((link) => link.textContent);
  await page.shown(() => order().length === 3);
  expect(order().slice(0, 2)).toEqual(waiting.map(nameOf));
  // The sidebar lists the active run, then the queue in its order.
  const listed = page.all('.run-list a').map((link) => link.getAttribute('href')!.split('/').at(-1));
  expect(listed).toEqual([trained, ...core.queue.list()]);

  const made = core.queue.list()[2]!;
  await page.click(`button[aria-label="Move ${nameOf(made)} up"]`);
  await page.shown(() => order().join() === [waiting[0]!, made, waiting[1]!].map(nameOf).join());
  const entry = page.all('section[aria-labelledby="queue"] li')[1]!;
  entry
    .querySelector('a')!
    .dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowUp', altKey: true, bubbles: true }));
  await page.shown(() => order().join() === [made, waiting[0]!, waiting[1]!].map(nameOf).join());
  await page.click(`button[aria-label="Remove ${nameOf(waiting[0]!)} from the queue"]`);
  await page.shown(() => order().join() === [made, waiting[1]!].map(nameOf).join());
  expect(core.queue.list()).toEqual([made, waiting[1]]);
});

test("a queued run for another device doesn't delay the start", async () => {
  page = await Page.start();
  const { core } = page;
  core.queue.add(await core.runs.create({ preset: 'starter-sokoban', set: { ...small, device: 'cuda:1' } }));
  page.open('#/start');
  await page.click('button[aria-label="Start Bandit, StarPO-S (PPO)"]');
  await page.shown(() => location.hash.startsWith('#/run/'));
  expect(core.runs.list().map(({ preset }) => preset)).toContain('starter-bandit-starpo-s');
  expect(core.queue.list()).toHaveLength(1);
});

test('a blocked queue shows the reason', async () => {
  page = await Page.start(undefined, '/nowhere/starpo-trainer');
  const { core } = page;
  core.queue.add(await core.runs.create({ preset: 'starter-bandit', set: small }));
  core.queue.work();
  page.open('#/queue');
  await page.shown(page.withText('.note', /trainer_missing/));
});

test('the introduction and the sample stay hidden after they are dismissed', async () => {
  page = await Page.start();
  installSample(page.world, sample);
  page.open('#/start');
  const steps = 'section[aria-labelledby="first-steps"]';
  await page.shown(page.withText(steps, /cores?, [\d.]+ GB of memory\. No usable GPU.*The trainer is ready/s));
  await page.shown(page.withText(`${steps} a`, 'Open the sample run'));
  await page.shown(page.withText(steps, /FrozenLake takes \d+–\d+ (s|min) on this machine/));
  await page.click(`${steps} button[aria-label="Don't show the steps again"]`);
  await page.click(page.withText('button', 'Hide the sample run'));
  await page.shown(() => !page.find(steps));
  page.open('#/history');
  page.open('#/start');
  await page.shown(page.withText('h2', 'Watch it learn: FrozenLake'));
  expect(page.find(steps)).toBeNull();
  expect(page.find('article ul[aria-label="Groups"]')).toBeNull();
});

test("the sample's boards play until there is a run with boards", async () => {
  vi.stubEnv('FAKE_TRAINER_HOLD', '3');
  page = await Page.start();
  installSample(page.world, sample);
  page.open('#/start');
  const caption = page.withText('article p', /^ ?Sample run: FrozenLake, iteration 4: \d+ of 8 solved$/);
  await page.shown(caption);
  const boards = () => page.find<HTMLAnchorElement>('article ul[aria-label="Groups"] a');
  expect(boards()!.getAttribute('href')).toMatch(/^#\/run\/sample-run\/group\/4\//);
  expect(page.find('.run-list')!.textContent).toBe('');

  // Boards of other tasks are not played here.
  const other = await page.core.runs.create({ preset: 'starter-bandit', set: small });
  await page.core.runs.start(other);
  await untilRun(page.core, other, ({ iteration }) => iteration === 3);
  const run = await page.core.runs.create({ preset: 'starter-frozen-lake', set: small });
  await page.shown(() => page.all('.run-list a').length === 2);
  expect(caption()).toBeDefined();

  await page.core.runs.start(run);
  await untilRun(page.core, run, ({ iteration }) => iteration === 3);
  await page.shown(page.withText('article p', /iteration 3: \d+ of 8 solved/));
  expect(boards()!.getAttribute('href')).toBe(`#/run/${run}/group/3/1`);
  expect(caption()).toBeUndefined();
});

test('earlier boards stay until a new run has its own', async () => {
  vi.stubEnv('FAKE_TRAINER_WAIT', '1');
  page = await Page.start();
  installSample(page.world, sample);
  const { core } = page;
  const run = await core.runs.create({ preset: 'starter-frozen-lake', set: small });
  await core.runs.start(run);
  await untilRun(core, run, ({ status }) => status === 'running');
  page.open('#/start');
  await page.shown(page.withText('article p', /^ ?Sample run: FrozenLake, iteration 4/));
  await page.shown(() => page.find('article ul[aria-label="Groups"] a[href^="#/run/sample-run/"]'));
  await core.runs.command(run, 'resume');
  await page.shown(() => page.find(`article ul[aria-label="Groups"] a[href^="#/run/${run}/"]`));
});

test('the sample is in the palette and can be compared with other runs', async () => {
  page = await Page.start();
  installSample(page.world, sample);
  const run = await page.core.runs.create({ preset: 'starter-frozen-lake', set: small });
  await page.core.runs.start(run);
  await untilRun(page.core, run, ({ iteration }) => iteration > 0);
  page.open('#/history');
  // The list has arrived and shortcuts work.
  await page.shown(() => page.find('[role="row"] a'));
  dispatchEvent(new KeyboardEvent('keydown', { key: 'k', ctrlKey: true, cancelable: true }));
  await page.shown(() => document.querySelector('[role="dialog"] input'));
  // Its actions belong to the page where it was opened.
  location.hash = '#/start';
  await page.shown(() => !document.querySelector('[role="dialog"]'));
  dispatchEvent(new KeyboardEvent('keydown', { key: 'k', ctrlKey: true, cancelable: true }));
  page.write(await page.shown(() => document.querySelector<HTMLInputElement>('[role="dialog"] input')), 'sample');
  const options = () => [...document.querySelectorAll<HTMLElement>('[role="option"]')];
  await page.click(() => options().find((option) => option.textContent?.startsWith('Sample run')));
  await page.shown(page.withText('h1', 'Sample run: FrozenLake'));
  page.open(`#/compare/${run}`);
  await page.click(() => page.find('input[aria-label^="Compare Sample run"]'));
  await page.shown(() => location.hash === `#/compare/${run},sample-run`);
  await page.shown(page.withText('h1', 'Compare 2 runs'));
  await page.shown(() => page.find('[data-chart]'));
  expect(page.find('[role="status"]')?.textContent ?? '').not.toMatch(/was not found/);
});

test("the sample's page shows boards and charts, but no actions that change it", async () => {
  page = await Page.start();
  installSample(page.world, sample);
  page.open('#/run/sample-run');
  await page.shown(page.withText('h1', 'Sample run: FrozenLake'));
  await page.shown(page.withText('header', /Trained with StarPO Studio on .*\d{4} \(commit \S+\): 4 iterations/));
  await page.shown(page.withText('h2', 'Boards'));
  await page.shown(() => page.find('[data-chart]'));
  expect(page.find('main .icon-button[aria-label^="More for Sample run"]')).toBeNull();
  expect(page.find('section[aria-labelledby="finish"]')).toBeNull();
  const one = await page.shown(page.withText('a', 'Train your own'));
  expect(one.getAttribute('href')).toBe('#/new/starter-frozen-lake-grpo-s');
});
