import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { findPreset } from '../../core/run-config/presets.ts';
import { untilRun } from '../core/fixtures/world.ts';
import { Page, small } from './page.tsx';

vi.mock('uplot', () => import('./uplot.ts'));

let page: Page;
beforeEach(() => {
  vi.stubEnv('FAKE_TRAINER_HOLD', '1');
  vi.stubEnv('HF_HUB_CACHE', '/nowhere');
});
afterEach(async () => {
  await page.close();
  vi.unstubAllEnvs();
});

test('one click on a preset makes a run and opens its page', async () => {
  page = await Page.on();
  page.open('#/start');
  await page.click('button[aria-label^="Start FrozenLake, StarPO-S"]');
  await page.shown(() => location.hash.startsWith('#/run/'));
  const [run, ...others] = page.core.runs.list();
  expect(others).toEqual([]);
  expect(location.hash).toBe(`#/run/${run!.id}`);
  expect(run!.preset).toBe('starter-frozen-lake-starpo-s');
  await page.shown(page.saying('.status-badge', 'Running'));
});

test('each task has one card, and what it says and starts follows the chosen algorithm', async () => {
  page = await Page.on();
  page.open('#/start');
  const card = await page.shown(() => page.find('article[aria-labelledby="task-frozen-lake-slippery"]'));
  expect(page.all('h2[id^="group-"]').map(({ textContent }) => textContent)).toEqual([
    'FrozenLake',
    'Sokoban',
    'Bandit',
    'Several environments',
    'See the Echo Trap',
  ]);
  expect(page.all('.preset-groups article')).toHaveLength(5);
  const radios = [...card.querySelectorAll<HTMLInputElement>('input[type="radio"]')];
  const chosen = () => radios.filter(({ checked }) => checked).map(({ labels }) => labels![0]!.textContent);
  expect(radios).toHaveLength(4);
  expect(chosen()).toEqual(['StarPO-S (PPO)']);
  expect(card.querySelector('code')?.textContent).toBe('starter-frozen-lake-slippery');
  const said = () => [...card.querySelectorAll('[data-chosen]')].map(({ textContent }) => textContent).join();
  const { method, expects } = findPreset('starter-frozen-lake-slippery');
  expect(said()).toContain(`${method}`);
  expect(said()).toContain(`Aims at ${expects}`);

  radios.at(-1)!.click();
  await page.shown(() => chosen().join() === 'StarPO (GRPO)');
  const baseline = findPreset('starter-frozen-lake-slippery-grpo');
  expect(said()).toMatch(/^Baseline/);
  expect(said()).toContain(`Aims at ${baseline.expects}`);
  expect(card.querySelector('code')?.textContent).toBe('starter-frozen-lake-slippery-grpo');
  await page.click('button[aria-label="Start FrozenLake, slippery, StarPO (GRPO)"]');
  await page.shown(() => location.hash.startsWith('#/run/'));
  expect(page.core.runs.list()[0]?.preset).toBe('starter-frozen-lake-slippery-grpo');
});

test('what is done at a warning is chosen before a run is made', async () => {
  page = await Page.on();
  page.open('#/start');
  const card = await page.shown(() => page.find('article[aria-labelledby="task-bandit"]'));
  const choice = card.querySelector('select')!;
  expect([...choice.options].map(({ text }) => text)).toEqual(['tell me', 'pause', 'stop', 'roll back']);
  expect(choice.labels![0]!.textContent).toContain('When the Echo Trap shows in Bandit');
  choice.value = 'rollback';
  choice.dispatchEvent(new Event('change', { bubbles: true }));
  await page.shown(() => card.textContent?.includes('last healthy checkpoint'));
  await page.click('button[aria-label^="Start Bandit"]');
  await page.shown(() => location.hash.startsWith('#/run/'));
  const config = await page.core.runs.config(page.core.runs.list()[0]!.id);
  expect(config).toMatchObject({ reaction: 'rollback' });
});

test('presets that are made to collapse stand apart, as what they are', async () => {
  page = await Page.on();
  page.open('#/start');
  const card = await page.shown(
    page.saying('section[aria-labelledby="group-traps"] article', 'Made to collapse'),
  );
  expect(card.querySelector('h3')?.textContent).toBe(findPreset('starter-frozen-lake-trap').title);
  expect(page.all('.preset-groups article')).toHaveLength(5);
});

test('a trainer that cannot be started says why and blocks the presets', async () => {
  page = await Page.on(undefined, '/nowhere/starpo-trainer');
  page.open('#/start');
  await page.shown(page.saying('[role="alert"]', /trainer_unavailable/));
  await page.shown(page.saying('[role="alert"]', /npm run setup/));
  await page.shown(() => page.find<HTMLButtonElement>('button[aria-label^="Start "]')?.disabled);
});

test('the presets of a published model need a GPU and its folder, and say what is missing', async () => {
  page = await Page.on();
  page.open('#/start');
  await page.shown(
    page.saying('.model-section [role="status"]', /can’t start here: the trainer finds no GPU/),
  );
  await page.shown(page.saying('.model-section', /isn't on this machine.*model_missing.*hf download/s));
  const start = page.find<HTMLButtonElement>(
    '.model-section button[aria-label="Start Sokoban, Qwen2.5 0.5B, StarPO-S (PPO)"]',
  );
  expect(start?.disabled).toBe(true);
  expect(page.find('.model-section')!.textContent).toMatch(/Needs about \d+ GB of GPU memory/);

  await page.click(page.saying('.model-section button', /^Look at the configuration$/));
  await page.shown(page.saying('.model-section pre', /"device": "cuda"/));
  await page.click(page.saying('.model-section button', /^3B$/));
  await page.shown(page.saying('.model-section', /Qwen2\.5-3B-Instruct isn't on this machine/));
  expect(page.core.runs.list()).toEqual([]);
});

test('with a GPU and a model folder they start from what the person named', async () => {
  vi.stubEnv('FAKE_TRAINER_GPU', String(24e9));
  page = await Page.on();
  const folderOf = (name: string) => {
    const folder = join(page.world.home, name);
    mkdirSync(folder, { recursive: true });
    for (const file of ['config.json', 'tokenizer.json', 'model.safetensors'])
      writeFileSync(join(folder, file), '{}');
    return folder;
  };
  const found = folderOf('models/Qwen2.5-0.5B-Instruct');
  const elsewhere = folderOf('elsewhere');
  page.open('#/start');
  const label = 'Start Bandit, Qwen2.5 0.5B, StarPO-S (PPO)';
  const start = () => page.find<HTMLButtonElement>(`.model-section button[aria-label="${label}"]`);
  await page.shown(() => start()?.disabled === false);
  const field = page.find<HTMLInputElement>('.model-section .text-field')!;
  expect(field.placeholder).toBe(found);
  expect(page.find('.preset-need')?.textContent).toContain('and the one here has 24.0 GB');
  field.value = elsewhere;
  field.dispatchEvent(new FocusEvent('focusout', { bubbles: true }));
  await page.shown(() => page.find<HTMLInputElement>('.model-section .text-field')?.value === elsewhere);
  await page.click(start);
  await page.shown(() => location.hash.startsWith('#/run/'));
  const [run] = page.core.runs.list();
  expect(run!.preset).toBe('qwen2.5-0.5b-bandit-starpo-s');
  expect(await page.core.runs.config(run!.id)).toMatchObject({ start: { model: elsewhere } });
  // Only a trainer on a GPU plans its memory.
  await page.shown(page.saying('summary', /Memory16\.8 GB of 24\.0 GB on cuda:0/));
  const rows = page.all('.memory tbody tr').map(({ textContent }) => textContent);
  expect(rows).toHaveLength(3);
  expect(rows[1]).toBe('Keys and values of all episodeswhile playing4.80 GB');
  const bars = page.all('.memory-bar').map((bar) => bar.getAttribute('aria-label'));
  expect(bars).toEqual(['while playing 12.0 GB, 50 %', 'while updating 16.8 GB, 70 %']);
});

test('a preset is queued while another run is trained, and the queue is put in order', async () => {
  page = await Page.on();
  const { core } = page;
  const make = (preset: string) => core.runs.create({ preset, set: small });
  const trained = await make('starter-frozen-lake');
  await core.runs.start(trained);
  await untilRun(core, trained, ({ iteration }) => iteration === 1);
  const waiting = [await make('starter-sokoban'), await make('starter-frozen-lake-slippery')];
  for (const id of waiting) core.queue.add(id);
  const nameOf = (id: string) => core.runs.get(id).name;
  page.open('#/start');
  const order = () => page.all('.queue a').map((link) => link.textContent);
  await page.shown(() => order().join() === waiting.map(nameOf).join());
  await page.click('button[aria-label="Add to queue: Bandit, StarPO-S (PPO)"]');
  await page.shown(() => order().length === 3);
  expect(location.hash).toBe('#/start');
  const made = core.queue.list()[2]!;
  await page.click(`button[aria-label="Move ${nameOf(made)} up"]`);
  await page.shown(() => order().join() === [waiting[0]!, made, waiting[1]!].map(nameOf).join());
  await page.click(`button[aria-label="Take ${nameOf(waiting[0]!)} out of the queue"]`);
  await page.shown(() => order().join() === [made, waiting[1]!].map(nameOf).join());
  expect(core.queue.list()).toEqual([made, waiting[1]]);
});

test('a queue that cannot go on says why', async () => {
  page = await Page.on(undefined, '/nowhere/starpo-trainer');
  const { core } = page;
  core.queue.add(await core.runs.create({ preset: 'starter-bandit', set: small }));
  core.queue.work();
  page.open('#/start');
  await page.shown(page.saying('.note', /trainer_missing/));
});
