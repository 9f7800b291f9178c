import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { usualPreset } from '../../core/contract/contract.ts';
import { findPreset } from '../../core/presets/presets.ts';
import { playableRun, starter } from '../core/fixtures/playable.ts';
import { untilRun } from '../core/fixtures/world.ts';
import { Page, small } from './page.tsx';

let page: Page;
beforeEach(() => {
  vi.stubEnv('FAKE_TRAINER_HOLD', '1');
  vi.stubEnv('HF_HUB_CACHE', '/nowhere');
});
afterEach(async () => {
  await page.close();
  vi.unstubAllEnvs();
});

/** Configuration files in RAGEN's form. */
const ragen = join(import.meta.dirname, '..', 'core', 'fixtures', 'ragen');

const field = (title: string) => () =>
  page.all<HTMLLabelElement>('label').find(({ textContent }) => textContent === title)?.control as
    | HTMLInputElement
    | undefined;
const summary = () => page.find('aside[aria-label="Start"]')!;
const dialog = () => document.querySelector('[role="dialog"]');
const inDialog = (words: string) =>
  [...dialog()!.querySelectorAll('button')].find(({ textContent }) => textContent === words)!;
const pick = (select: HTMLSelectElement, value: string) => {
  select.value = value;
  select.dispatchEvent(new Event('change', { bubbles: true }));
};

test('a setting is found, edited, validated, reset, and used by the run', async () => {
  page = await Page.start();
  page.open('#/new/starter-frozen-lake?iterations=20');
  await page.shown(() => summary()?.textContent?.includes('120 → 20'));
  const search = page.find<HTMLInputElement>('input[type="search"]')!;
  await page.shown(() => {
    page.press('/');
    return document.activeElement === search;
  });
  page.write(search, 'clip above');
  const clip = (await page.shown(field('Upper clip range')))!;
  expect(clip.value).toBe('0.28');
  page.write(clip, '-1');
  await page.shown(page.withText('p', 'Upper clip range must be 0 or more.'));
  expect(clip.getAttribute('aria-invalid')).toBe('true');
  const start = page.withText('aside button', /^Start$/);
  expect(start()?.hasAttribute('disabled')).toBe(true);
  page.write(clip, '0.3');
  await page.shown(() => start()?.hasAttribute('disabled') === false);
  expect(summary().textContent).toContain('0.28 → 0.3');

  page.write(search, 'temperature');
  page.write((await page.shown(field('Temperature')))!, '0.7');
  await page.click('aside button[aria-label="Reset Temperature"]');
  await page.shown(() => field('Temperature')()?.value === '1');
  await page.click(start as () => HTMLElement);
  await page.shown(() => location.hash.startsWith('#/run/'));
  const config = await page.core.runs.config(page.core.runs.list()[0]!.id);
  expect(config).toMatchObject({
    iterations: 20,
    policy_loss: { clip_high: 0.3 },
    rollout: { temperature: 1 },
  });
});

test('a number can be typed character by character past its old value', async () => {
  page = await Page.start();
  page.open('#/new/starter-bandit');
  const search = await page.shown(() => page.find<HTMLInputElement>('input[type="search"]'));
  const shown: string[] = [];
  for (const [title, was, typed] of [
    ['KL coefficient', '0', '0.001'],
    ['Temperature', '1', '1.5'],
    ['Gradient clip', '1', '10'],
  ] as const) {
    page.write(search, title);
    const input = (await page.shown(field(title)))!;
    expect(input.value).toBe(was);
    page.write(input, '');
    for (const sign of typed) page.write(input, input.value + sign);
    shown.push(input.value);
    await page.shown(() => summary().textContent?.includes(`${was} → ${typed}`));
  }
  expect(shown).toEqual(['0.001', '1.5', '10']);
  // On blur, the form's number format is used.
  const clip = field('Gradient clip')()!;
  page.write(clip, '1.0');
  expect(clip.value).toBe('1.0');
  clip.dispatchEvent(new FocusEvent('focusout', { bubbles: true }));
  await page.shown(() => clip.value === '1');
});

test('Ctrl+Enter pressed repeatedly starts one run, and none from a dialog', async () => {
  page = await Page.start();
  page.open('#/new/starter-bandit');
  await page.shown(
    () =>
      page
        .withText('aside button', /^Start$/)()
        ?.hasAttribute('disabled') === false,
  );
  const press = (target: Element, repeat = false) =>
    target.dispatchEvent(
      new KeyboardEvent('keydown', { key: 'Enter', ctrlKey: true, bubbles: true, cancelable: true, repeat }),
    );
  await page.click(page.withText('button', 'Import…'));
  press((await page.shown(() => dialog()?.querySelector('textarea')))!);
  inDialog('Cancel').click();
  await page.shown(() => dialog() === null);
  press(summary(), true);
  expect(page.withText('aside button', /^Start$/)()).toBeDefined();
  for (let again = 0; again < 3; again += 1) press(summary());
  await page.shown(() => location.hash.startsWith('#/run/'));
  expect(page.core.runs.list()).toHaveLength(1);
});

test('the model is chosen from a list or entered as a folder', async () => {
  page = await Page.start();
  const { core, world } = page;
  const mine = join(world.home, 'my-model');
  cpSync(starter, mine, { recursive: true });
  core.models.add(mine);
  const trained = await playableRun(core, 'starter-bandit', {}, [0, 40]);
  page.open('#/new/starter-frozen-lake');
  const select = (await page.shown(field('Model'))) as unknown as HTMLSelectElement;
  await page.shown(() => select.options.length > 2);
  expect([...select.options].map(({ text }) => text)).toEqual([
    'Starter policy',
    'my-model, local folder',
    `${core.runs.get(trained).name}, iteration 40`,
    'Choose another folder…',
  ]);
  expect(select.selectedOptions[0]!.text).toBe('Starter policy');
  const chosen = () => summary().textContent;
  page.choose(select, select.options[2]!.value);
  await page.shown(() => chosen()?.includes(join(trained, 'checkpoints', '000040')));
  expect(page.find('input[aria-label="Path of the model folder"]')).toBeNull();
  page.choose(select, select.options[3]!.value);
  page.write(
    await page.shown(() => page.find<HTMLInputElement>('input[aria-label="Path of the model folder"]')),
    '/nowhere/else',
  );
  await page.shown(() => chosen()?.includes('/nowhere/else'));
  expect(select.selectedOptions[0]!.text).toBe('Choose another folder…');
  await page.click('aside button[aria-label="Reset Model"]');
  await page.shown(() => select.selectedOptions[0]!.text === 'Starter policy');
  page.choose(select, mine);
  await page.shown(() => chosen()?.includes('my-model'));
  await page.click(page.withText('aside button', /^Start$/));
  await page.shown(() => location.hash.startsWith('#/run/'));
  const run = core.runs.list().find(({ id }) => id !== trained)!;
  expect(await core.runs.config(run.id)).toMatchObject({ start: { model: mine, run: '' } });
});

test('environments are added and removed, and their shares adjust', async () => {
  page = await Page.start();
  page.open('#/new/starter-frozen-lake?environments.0.config.size=5');
  const part = 'section[aria-labelledby="trained-on"]';
  const add = await page.shown(() => page.find<HTMLSelectElement>(`${part} select`));
  expect([...add.options].map(({ text }) => text)).toEqual([
    'Add an environment…',
    'FrozenLake',
    'Bandit',
    'Sokoban',
    'WebShop',
    'Own program',
  ]);
  const listed = () => page.all(`${part} li`).map(({ textContent }) => textContent);
  page.choose(add, '1');
  await page.shown(() => listed().length === 2);
  page.choose(add, '0');
  await page.shown(() => listed().length === 3);
  expect(listed()).toEqual([
    'FrozenLake33 % of groups',
    'Bandit33 % of groups',
    'FrozenLakefrozen-lake-2, 33 % of groups',
  ]);
  await page.shown(page.withText('h2', 'Environment: FrozenLake, frozen-lake-2'));
  await page.shown(page.withText('fieldset[aria-label="Environment"] button', 'Bandit'));
  expect(summary().textContent).toContain('FrozenLake, Bandit and frozen-lake-2');
  await page.click('button[aria-label="Remove frozen-lake-2"]');
  await page.shown(() => listed().length === 2);
  const start = page.withText('aside button', /^Start$/);
  await page.shown(() => start()?.hasAttribute('disabled') === false);
  await page.click(start as () => HTMLElement);
  await page.shown(() => location.hash.startsWith('#/run/'));
  const config = await page.core.runs.config(page.core.runs.list()[0]!.id);
  expect(config).toMatchObject({
    environments: [
      { label: 'frozen-lake', share: 0.5, config: { size: 5 } },
      { label: 'bandit', type: 'bandit', share: 0.5 },
    ],
  });
});

test('the first prompts of three levels are shown, and their parts are edited', async () => {
  page = await Page.start();
  page.open('#/new/starter-mixed');
  await page.shown(page.withText('section[aria-labelledby="prompts"] pre', '{state}'));
  const levels = page.all('fieldset[aria-label="Level"] button').map(({ textContent }) => textContent);
  expect(levels).toEqual(['Level 10000', 'Level 10001', 'Level 10002']);
  await page.shown(
    page.withText('section[aria-labelledby="prompts"]', /20 tokens\. With a full response of 96 tokens: 116 of/),
  );
  await page.click(page.withText('fieldset[aria-label="Environment"] button', 'Bandit'));
  await page.shown(page.withText('section[aria-labelledby="prompts"] pre', '{arm_1} or {arm_2}?'));
  page.write((await page.shown(field('First message')))!, 'Choose!');
  await page.shown(page.withText('section[aria-labelledby="prompts"] pre', 'Choose!'));
});

test('a configuration is exported as JSON and imported again, with errors by setting', async () => {
  page = await Page.start();
  page.open('#/new/starter-bandit?seed=7');
  await page.click(page.withText('button', 'Export…'));
  const text = await page.shown(() => dialog()?.querySelector('textarea')?.value);
  expect(JSON.parse(text)).toEqual({ ...findPreset('starter-bandit').config, seed: 7 });
  inDialog('Close').click();
  await page.shown(() => dialog() === null);

  page.open('#/new/import');
  const area = await page.shown(() => dialog()?.querySelector('textarea'));
  const take = async (typed: string) => {
    page.write(area!, typed);
    await page.shown(() => !inDialog('Use configuration').disabled);
    inDialog('Use configuration').click();
  };
  await take('{ "seed": 1');
  await page.shown(() => dialog()?.textContent?.includes('Not valid JSON'));
  const refused = () => page.shown(() => dialog()?.textContent?.includes('Not a valid configuration.'));
  for (const hostile of ['[]', 'null', `{"kl": ${'['.repeat(50_000)}${']'.repeat(50_000)}}`]) {
    await take(hostile);
    await refused();
  }
  await take('{"__proto__": {"polluted": true}, "constructor": {"prototype": {"polluted": true}}}');
  await page.shown(() => dialog()?.textContent?.includes('is missing'));
  expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  const { kl: _, ...config } = findPreset('starter-sokoban').config;
  await take(JSON.stringify({ ...config, iterations: -1, speed: 3 }));
  const message = await page.shown(() =>
    dialog()?.textContent?.includes('Iterations must be') ? dialog()!.textContent : null,
  );
  expect(message).toContain('speed is not a setting. Did you mean seed?');
  // Like a run from another machine.
  const start = { ...config.start, model: '/elsewhere/starter', sha256: 'a'.repeat(64) };
  await take(JSON.stringify({ ...findPreset('starter-sokoban').config, iterations: 33, start }));
  await page.shown(() => dialog() === null);
  await page.shown(page.withText('p', /^Based on Sokoban, StarPO-S \(GRPO\), with imported changes$/));
  await page.shown(() => summary().textContent?.includes('120 → 33'));
  expect(summary().textContent).toContain('2 changed');
  expect(summary().textContent).toContain('starter → /elsewhere/starter');
});

test("a run's configuration or checkpoint can be the base", async () => {
  vi.stubEnv('FAKE_TRAINER_HOLD', '0');
  page = await Page.start();
  const { core } = page;
  const parent = await core.runs.create({ preset: 'starter-bandit', set: { ...small, seed: 5 } });
  await core.runs.start(parent);
  await untilRun(core, parent, ({ status }) => status === 'completed');
  page.open(`#/run/${parent}/configuration`);
  await page.shown(page.withText('table caption', 'Changes from preset Bandit, StarPO-S'));
  const rows = page.all('table:has(caption) tbody tr').map(({ textContent }) => textContent);
  expect(rows).toContain('Seed15');
  expect(rows).toContain('Prompts per iteration162');
  expect(rows).toHaveLength(8);
  await page.click(page.withText('a', 'Duplicate with changes'));
  const begin = (await page.shown(field('Start from'))) as unknown as HTMLSelectElement;
  await page.shown(() => begin.options.length > 2);
  expect(field('Seed')()?.value).toBe('5');
  pick(begin, '2');
  await page.shown(() => location.hash === `#/new/run/${parent}/2`);
  await page.shown(page.withText('label', 'Keep optimizer state and any critic'));
  await page.click(() => {
    const start = page.withText('aside button', /^Start$/)();
    return start?.closest('aside')?.textContent?.includes('on this machine') ? start : null;
  });
  await page.shown(() => location.hash.startsWith('#/run/'));
  const fork = core.runs.list().find(({ id }) => id !== parent)!;
  expect(fork.parent).toEqual({ run: parent, iteration: 2 });
});

test("a fork at iteration 0 belongs to its parent's family, a duplicate doesn't", async () => {
  vi.stubEnv('FAKE_TRAINER_HOLD', '0');
  page = await Page.start();
  const { core } = page;
  const train = async (source: Parameters<typeof core.runs.create>[0]) => {
    const runId = await core.runs.create(source);
    await core.runs.start(runId);
    await untilRun(core, runId, ({ status }) => status === 'completed');
    return runId;
  };
  const parent = await train({ preset: 'starter-bandit', set: small });
  const fork = await train({ run: parent, checkpoint: 0, keepOptimizer: false });
  const copy = await train({ run: parent });
  const family = () => page.all('ul[aria-label="Forks"] li').map(({ textContent }) => textContent);
  const { name } = core.runs.get(parent);
  page.open(`#/run/${fork}`);
  await page.shown(page.withText('ul[aria-label="Forks"] li', `Forked from ${name} at iteration 0`));
  location.hash = `#/run/${fork}/charts`;
  await page.shown(page.withText('button', 'Show parent run'));
  page.open(`#/run/${parent}`);
  await page.shown(page.withText('ul[aria-label="Forks"] li', /^Forked into .* at iteration 0/));
  expect(family()).toHaveLength(1);
  page.open(`#/run/${copy}`);
  // The parent's page stays until the copy is loaded.
  await page.shown(() => family().length === 0);
  await page.shown(page.withText('[data-chart] h3', 'Success'));
  expect(family()).toEqual([]);
  expect(page.withText('button', 'Show parent run')()).toBeUndefined();
});

test('a missing model is reported once, with its download command as code, and disables Start', async () => {
  vi.stubEnv('HF_HUB_CACHE', '/nowhere');
  page = await Page.start();
  page.open('#/new/qwen2.5-0.5b-sokoban');
  await page.shown(page.withText('aside .note-title', /Qwen2\.5-0\.5B-Instruct was not found in/));
  expect(page.all('aside .note-title')).toHaveLength(1);
  expect(page.find('aside .note code')?.textContent).toMatch(/^hf download Qwen\/Qwen2\.5-0\.5B-Instruct/);
  const start = page.withText('aside button', /^Start$/)() as HTMLButtonElement;
  expect(start.disabled || start.getAttribute('aria-disabled') === 'true').toBe(true);
});

test('vary creates a sweep with values, seeds, number of runs and validation', async () => {
  page = await Page.start();
  page.open('#/new/starter-bandit?iterations=4&evaluation.levels=16&seed=7');
  await page.click('button[aria-label="Vary Learning rate in a sweep"]');
  const panel = 'section[aria-labelledby="study"]';
  const values = (await page.shown(() => page.find<HTMLInputElement>(`${panel} [class*="varied"] input`)))!;
  expect(values.value).toBe('0.0002, 0.0006');
  expect(document.activeElement).toBe(values);
  // The sweep sets the values of this setting and the seeds.
  const disabledFields = () =>
    page
      .all<HTMLLabelElement>('main label')
      .filter(({ control }) => (control as HTMLInputElement | null)?.disabled)
      .map(({ textContent }) => textContent);
  expect(disabledFields()).toEqual(expect.arrayContaining(['Learning rate']));
  page.write(page.find<HTMLInputElement>('input[type="search"]')!, 'seed');
  await page.shown(() => disabledFields().includes('Seed'));
  page.write(page.find<HTMLInputElement>('input[type="search"]')!, '');
  page.write(values, '1e-4, 3e-4, 2');
  await page.shown(page.withText(`${panel} [role="alert"]`, 'Learning rate 2: Learning rate must be 1 or less.'));
  page.write(values, '1e-4, 3e-4');
  page.write(page.find<HTMLInputElement>(`${panel} [class*="add"] input`)!, 'Group filter');
  const ticks = await page.shown(() => {
    const inputs = page.all<HTMLInputElement>(`${panel} input[type="checkbox"]`);
    return inputs.length > 1 && inputs;
  });
  expect(document.activeElement).toBe(ticks[0]);
  for (const [index, tick] of ticks.entries()) if (tick.checked !== index < 2) await page.click(() => tick);
  page.write(field('Seeds')()!, '1-2');
  await page.shown(page.withText(panel, /4 combinations × 2 seeds = 8 runs, \d+–\d+ s on this machine/));
  page.write(field('Name')()!, 'Rate and filter');
  await page.click(page.withText(`${panel} button`, 'Create'));
  await page.shown(() => location.hash.startsWith('#/study/rate-and-filter'));
  await page.shown(page.withText('h1', 'Rate and filter'));
  const [study] = page.core.studies.list();
  expect(study).toMatchObject({ seeds: [1, 2], state: 'created' });
  expect(study?.points).toEqual([
    'Learning rate 1e-4, Group filter None',
    'Learning rate 1e-4, Group filter Top fraction',
    'Learning rate 3e-4, Group filter None',
    'Learning rate 3e-4, Group filter Top fraction',
  ]);
});

test('a sweep compares success in one of its environments', async () => {
  page = await Page.start();
  page.open('#/new/starter-mixed');
  await page.click('button[aria-label="Vary Learning rate in a sweep"]');
  const panel = 'section[aria-labelledby="study"]';
  const judged = await page.shown(() => page.find<HTMLSelectElement>(`${panel} label select`));
  const [first, second] = [...judged.options].map(({ value }) => value);
  page.choose(judged, first!);
  await page.click('section[aria-labelledby="trained-on"] li button[aria-label^="Remove"]');
  // The choice disappears when one environment is left.
  await page.shown(() => !judged.isConnected);
  page.write((await page.shown(() => page.find<HTMLInputElement>(`${panel} [class*="varied"] input`)))!, '1e-4');
  await page.click(page.withText(`${panel} button`, 'Create'));
  await page.shown(() => location.hash.startsWith('#/study/'));
  expect(page.core.studies.list()[0]!.environment).toBe(second);
});

test('without a base, the form and its preset are the default preset', async () => {
  page = await Page.start();
  page.open('#/new');
  const preset = await page.shown(() => {
    const select = page.find<HTMLSelectElement>('header select');
    return select?.value ? select : null;
  });
  expect(preset.value).toBe(usualPreset);
  expect(preset.selectedOptions[0]!.textContent).toBe('FrozenLake, StarPO-S (GRPO)');
  page.write(page.find<HTMLInputElement>('input[type="search"]')!, 'clip above');
  expect((await page.shown(field('Upper clip range'))).value).toBe('0.28');
  expect(findPreset(usualPreset).config.policy_loss.clip_high).toBe(0.28);
});

test('a run gets its name, tags and note before it starts', async () => {
  page = await Page.start();
  page.open('#/new/starter-bandit?iterations=4');
  page.write((await page.shown(field('Name')))!, ' Wide clip ');
  page.write(field('Tags')()!, 'baseline, _wrong');
  const start = page.withText('aside button', /^Start$/);
  await page.shown(page.withText('main p', /Invalid tag “_wrong”/));
  expect(start()?.hasAttribute('disabled')).toBe(true);
  page.write(field('Tags')()!, 'baseline, clip');
  page.write(page.find<HTMLTextAreaElement>('main textarea')!, 'A wider clip learns faster.');
  await page.shown(() => start()?.hasAttribute('disabled') === false);
  await page.click(start as () => HTMLElement);
  await page.shown(() => location.hash.startsWith('#/run/'));
  const [run] = page.core.runs.list();
  expect(run).toMatchObject({
    name: 'Wide clip',
    marks: { name: 'Wide clip', tags: ['baseline', 'clip'], note: 'A wider clip learns faster.' },
  });
});

test('an unknown base shows an error', async () => {
  page = await Page.start();
  page.open('#/new/starter-chess');
  await page.shown(page.withText('.note', /Unknown preset "starter-chess"/));
});

test('configuration files of RAGEN are imported with overrides, and their notes are listed', async () => {
  page = await Page.start();
  page.open('#/new/starter-frozen-lake');
  await page.click(page.withText('button', 'Import…'));
  const picker = await page.shown(() => dialog()?.querySelector<HTMLInputElement>('input[type="file"]'));
  const choose = (...names: string[]) => {
    const files = names.map((name) => new File([readFileSync(join(ragen, name), 'utf8')], name));
    Object.defineProperty(picker, 'files', { value: files, configurable: true });
    picker.dispatchEvent(new Event('change', { bubbles: true }));
  };
  choose('_2_sokoban.yaml', 'envs.yaml');
  await page.shown(() => dialog()?.querySelectorAll('li').length === 2);
  inDialog('Use configuration').click();
  await page.shown(() => dialog()?.textContent?.includes('_2_sokoban.yaml needs base.yaml, which was not found.'));
  choose('base.yaml');
  await page.shown(() => dialog()?.textContent?.includes('base.yamlRemove'));
  page.write(dialog()!.querySelector('textarea')!, 'trainer.total_training_steps=30\nes_manager.format_penalty=-0.2');
  inDialog('Use configuration').click();
  await page.shown(() => dialog() === null);
  const notes = (await page.shown(() => page.find('section[aria-label="Imported settings"]')))!.textContent;
  expect(notes).toContain('trainer.total_training_steps = 30 is iterations = 30.');
  expect(notes).toContain('without counterpart');
  expect(field('Iterations')()!.value).toBe('30');
  expect(page.find('h1')!.parentElement!.textContent).toContain('Based on Sokoban, Qwen2.5 0.5B, StarPO-S (PPO)');
});
