import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { fromBuffer } from 'yauzl';
import { chromiumPath } from '../../scripts/lib/debian-packages.mjs';
import { releaseRuns } from '../release-runs.ts';
import { violations, violationsInBothThemes } from './axe.ts';
import { collectComplaints, type Served, screenshots, serve } from './studio.ts';

/** A run by the real trainer with episodes, evaluations and a checkpoint. */
const realRun = join(releaseRuns, 'sokoban');

let home: string;
let served: Served;
let browser: Browser;
beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'starpo-export-'));
  mkdirSync(join(home, 'runs'));
  cpSync(realRun, join(home, 'runs/a-real-run'), { recursive: true });
  served = await serve(home);
  browser = await chromium.launch({ executablePath: chromiumPath() });
});
afterAll(async () => {
  await browser.close();
  await served.end();
  rmSync(home, { recursive: true, force: true, maxRetries: 10 });
});

async function visit(hash: string, colorScheme: 'light' | 'dark' = 'light'): Promise<Page> {
  const page = await browser.newPage({ colorScheme, viewport: { width: 1280, height: 800 } });
  page.setDefaultTimeout(120_000);
  await page.goto(`${served.address}${hash}`);
  return page;
}

/** Clicks a button and returns the name and bytes of the downloaded file. */
async function saved(page: Page, button: string) {
  const downloading = page.waitForEvent('download');
  await page.getByRole('button', { name: button, exact: true }).click();
  const download = await downloading;
  return { name: download.suggestedFilename(), bytes: readFileSync(await download.path()) };
}

const namesIn = (zip: Buffer) =>
  new Promise<string[]>((resolve, reject) =>
    fromBuffer(zip, { lazyEntries: false }, (error, file) => {
      if (error) return reject(error);
      const found: string[] = [];
      file.on('entry', ({ fileName }) => found.push(fileName));
      file.on('end', () => resolve(found));
    }),
  );

test('exports in the browser, accessible in both themes', async () => {
  const page = await visit('/run/a-real-run/export');
  const complaints = collectComplaints(page);
  await page.getByRole('button', { name: 'Show Methods paragraph' }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('region', { name: 'Methods paragraph' }).getByText('AdamW').waitFor();
  expect(await violationsInBothThemes(page)).toEqual([]);
  const csv = await saved(page, 'Download CSV');
  expect(csv.name).toBe('Sokoban-a-real-run-metrics.csv');
  expect(csv.bytes.toString()).toMatch(/^iteration,time,[^\n]*rollout\/reward_mean/);
  await page.getByText('Downloaded Sokoban-a-real-run-metrics.csv').waitFor();
  await page.getByLabel('Checkpoint').selectOption('iteration 2');
  const model = await saved(page, 'Download Hugging Face folder');
  expect(await namesIn(model.bytes)).toEqual(expect.arrayContaining(['README.md', 'model.safetensors']));
  expect(complaints).toEqual([]);
  await page.close();
});

test('a run is exported as one file and imported again', async () => {
  const page = await visit('/run/a-real-run');
  const complaints = collectComplaints(page);
  await page.getByRole('button', { name: 'More for Sokoban a-real-run' }).click();
  const item = page.getByRole('menuitem', { name: 'Export as one file…' });
  await item.waitFor();
  expect(await violations(page)).toEqual([]);
  await item.click();
  const bundle = await saved(page, 'Export');
  expect(bundle.name).toBe('Sokoban-a-real-run.starpo.zip');
  expect(await namesIn(bundle.bytes)).toEqual(expect.arrayContaining(['bundle.json', 'run/events.jsonl']));
  await page.getByText('Downloaded Sokoban-a-real-run.starpo.zip.').waitFor();
  await page.evaluate(() => {
    location.hash = '#/history';
  });
  await page.getByRole('button', { name: 'Import runs…' }).click();
  const file = { name: bundle.name, mimeType: 'application/zip', buffer: bundle.bytes };
  await page.locator('[role="dialog"] input[type="file"]').setInputFiles(file);
  await page.getByText('Run bundle', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Import', exact: true }).click();
  await page.getByText('Run imported.').waitFor();
  expect(page.url()).toMatch(/#\/run\/a-real-run-[0-9a-f]{4}$/);
  expect(complaints).toEqual([]);
  await page.close();
});

test('dropped metrics are recognized before they are imported', async () => {
  const page = await visit('/');
  const complaints = collectComplaints(page);
  const drag = (type: string) =>
    page.evaluate((name) => {
      const dataTransfer = new DataTransfer();
      const text = 'step,critic/score/mean,actor/grad_norm,actor/pg_clipfrac\n1,0.25,1,0\n2,0.5,1,0\n';
      dataTransfer.items.add(new File([text], 'baseline.csv'));
      document.body.dispatchEvent(new DragEvent(name, { dataTransfer, bubbles: true, cancelable: true }));
    }, type);
  await drag('dragenter');
  await page.getByText('Drop to import').waitFor();
  await drag('drop');
  const dialog = page.getByRole('dialog', { name: 'Import runs' });
  await dialog.getByText('CSV · verl · 2 steps · 3 metrics').waitFor();
  await page.getByText('Drop to import').waitFor({ state: 'hidden' });
  await dialog.getByText('2 recognized', { exact: true }).click();
  await dialog.getByText('rollout/reward_mean').waitFor();
  await dialog.getByText('1 not recognized, imported under their own names').click();
  await dialog.getByText('actor/pg_clipfrac').waitFor();
  expect(await violations(page)).toEqual([]);
  await page.screenshot({ path: join(screenshots, 'import-recognized.png') });
  await dialog.getByRole('button', { name: 'Import', exact: true }).click();
  await page.getByRole('heading', { name: 'baseline' }).waitFor();
  expect(complaints).toEqual([]);
  await page.close();
});

test('exporting missing data shows an error beside the format', async () => {
  mkdirSync(join(home, 'runs/empty'));
  cpSync(join(realRun, 'run.json'), join(home, 'runs/empty/run.json'));
  writeFileSync(join(home, 'runs/empty/events.jsonl'), '');
  const page = await visit('/run/empty/export');
  await page.getByText('No checkpoint to export.').waitFor();
  await page.getByRole('button', { name: 'Download Parquet' }).click();
  await page.getByRole('alert').getByText('has no episodes to export').waitFor();
  await page.getByRole('button', { name: 'Show Results, LaTeX' }).click();
  await page.getByText('has no evaluations to export').waitFor();
  await page.close();
});

test.each(['light', 'dark'] as const)('the System and Settings pages, %s', async (colorScheme) => {
  const page = await visit('/system', colorScheme);
  const complaints = collectComplaints(page);
  await page.getByRole('figure', { name: /^CPU: \d+ % now/ }).waitFor();
  await page.getByRole('region', { name: 'Checks' }).getByText(home).waitFor();
  expect(await violations(page)).toEqual([]);
  const zip = await saved(page, 'Create diagnostics file');
  expect(await namesIn(zip.bytes)).toEqual(
    expect.arrayContaining(['versions.json', 'findings.json', 'runs.json', 'core.log']),
  );
  await page.getByRole('link', { name: 'Settings' }).click();
  const other = colorScheme === 'light' ? 'Dark' : 'Light';
  await page.getByRole('button', { name: other, exact: true }).click();
  expect(await page.locator('html').getAttribute('data-theme')).toBe(other.toLowerCase());
  await page.getByRole('button', { name: 'System', exact: true }).click();
  expect(await page.locator('html').getAttribute('data-theme')).toBe(colorScheme);
  await page.getByRole('checkbox', { name: 'Write TensorBoard files during training' }).focus();
  await page.keyboard.press('Space');
  const command = page.getByText(`tensorboard --logdir ${home}/tensorboard`);
  await command.waitFor();
  expect(await violations(page)).toEqual([]);
  await page.keyboard.press('Space');
  await command.waitFor({ state: 'detached' });
  expect(complaints).toEqual([]);
  await page.close();
});
