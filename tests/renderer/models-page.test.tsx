import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { FakeHub, refusal } from '../core/fixtures/hub.ts';
import { starter } from '../core/fixtures/playable.ts';
import { Page } from './page.tsx';

const names = ['config.json', 'tokenizer.json', 'model.safetensors'];

describe('the Models page', { timeout: 60_000 }, () => {
  let page: Page;
  let hub: FakeHub;
  beforeEach(async () => {
    vi.stubEnv('HF_HUB_CACHE', '/nowhere');
    hub = new FakeHub(Object.fromEntries(names.map((name) => [name, readFileSync(join(starter, name))])));
    await hub.start();
    page = await Page.start();
    page.core.models.hub.set({ host: hub.host });
    page.open('#/models');
    await page.shown(() => page.find('#models-name'));
  });
  afterEach(async () => {
    vi.unstubAllEnvs();
    hub.close();
    await page.close();
  });

  const button = (name: string) => () => page.all('main button').find(({ textContent }) => textContent === name);
  const lookUp = async (name: string) => {
    page.write(page.find<HTMLInputElement>('#models-name')!, name);
    await page.click(button('Find'));
  };

  test('downloads a model after showing its license', async () => {
    await lookUp(hub.repository);
    await page.shown(page.withText('article', /Licenseapache-2\.0.*Download4\.0 MB in 3 files/));
    hub.faults = [refusal('model.safetensors', 403)];
    await page.click(button('Accept apache-2.0 and download'));
    // The download was refused; it resumes from the partial file.
    await page.shown(page.withText('[role=alert]', /requires permission/));
    await page.click(button('Resume'));
    await page.shown(page.withText('tr', /Tiny-Qwen.*downloaded.*Qwen2ForCausalLM.*fp32/));
    expect(page.find('[aria-label=Downloads]')).toBeNull();
    await page.click(button('Delete…'));
    await page.click(button('Delete files'));
    await page.shown(() => !page.find('main')!.textContent!.includes('Tiny-Qwen') && true);
  });

  test('finds the model in the address, and opens the form for a local model', async () => {
    page.open(`#/models/${hub.repository}`);
    await page.shown(page.withText('article', /Download4\.0 MB in 3 files/));
    page.write(await page.shown(() => page.find<HTMLInputElement>('#models-folder')), starter);
    await page.click(button('Add'));
    const row = await page.shown(page.withText('tr', /local folder/));
    const link = row.querySelector('a[href^="#/new/"]')!.getAttribute('href');
    expect(link).toBe(`#/new/starter-frozen-lake-starpo-s?start.model=${encodeURIComponent(starter)}`);
  });

  test('rejects an invalid name, and adds and removes folders', async () => {
    await lookUp('tiny');
    await page.shown(page.withText('[role=alert]', /Not a valid model name.*OWNER\/NAME/));
    page.write(await page.shown(() => page.find<HTMLInputElement>('#models-folder')), starter);
    await page.click(button('Add'));
    await page.shown(page.withText('tr', /starter.*local folder.*Qwen2ForCausalLM/));
    await page.click(button('Remove'));
    await page.shown(() => !page.withText('tr', /local folder/)());
  });
});
