import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { fromBuffer } from 'yauzl';
import { root } from '../../scripts/lib/process.mjs';
import { chromiumPath, hearComplaints, type Served, serve } from './studio.ts';

/** A run of the real trainer with episodes, evaluations and a checkpoint. */
const kept = join(root, 'tests/fixtures/version-1/sokoban');
const axe = readFileSync(join(root, 'node_modules/axe-core/axe.min.js'), 'utf8');

let home: string;
let served: Served;
let browser: Browser;
beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'starpo-export-'));
  mkdirSync(join(home, 'runs'));
  cpSync(kept, join(home, 'runs/a-real-run'), { recursive: true });
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

/** WCAG 2.2 AA, no rule off. */
async function expectAccessible(page: Page): Promise<void> {
  // As a script of the page it would be kept out by the content security policy.
  await page.evaluate(axe);
  const found = await page.evaluate(async () => {
    const { axe } = globalThis as unknown as { axe: { run(of: Document, how: object): Promise<Found> } };
    interface Found {
      violations: { id: string; nodes: { target: string[] }[] }[];
    }
    const values = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];
    const { violations } = await axe.run(document, { runOnly: { type: 'tag', values } });
    return violations.map(
      ({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(' ')).join(', ')}`,
    );
  });
  expect(found).toEqual([]);
}

/** What a click has the browser save: its name and bytes. */
async function saved(page: Page, button: string) {
  const coming = page.waitForEvent('download');
  await page.getByRole('button', { name: button, exact: true }).click();
  const download = await coming;
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

test.each(['light', 'dark'] as const)('exports in the browser, %s', async (colorScheme) => {
  const page = await visit('/run/a-real-run/export', colorScheme);
  const complaints = hearComplaints(page);
  await page.getByRole('button', { name: 'Show Methods paragraph' }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('region', { name: 'Methods paragraph' }).getByText('AdamW').waitFor();
  await expectAccessible(page);
  const csv = await saved(page, 'Download CSV');
  expect(csv.name).toBe('a-real-run-metrics.csv');
  expect(csv.bytes.toString()).toMatch(/^iteration,time,[^\n]*rollout\/reward_mean/);
  await page.getByText('Downloaded a-real-run-metrics.csv').waitFor();
  await page.getByLabel('Checkpoint').selectOption('iteration 2');
  const model = await saved(page, 'Download Hugging Face folder');
  expect(await namesIn(model.bytes)).toEqual(expect.arrayContaining(['README.md', 'model.safetensors']));
  expect(complaints).toEqual([]);
  await page.close();
});

test('what a run has none of is said where it was asked for', async () => {
  mkdirSync(join(home, 'runs/empty'));
  cpSync(join(kept, 'run.json'), join(home, 'runs/empty/run.json'));
  writeFileSync(join(home, 'runs/empty/events.jsonl'), '');
  const page = await visit('/run/empty/export');
  await page.getByText('There is no checkpoint yet.').waitFor();
  await page.getByRole('button', { name: 'Download Parquet' }).click();
  await page.getByRole('alert').getByText('has no episodes to export').waitFor();
  await page.getByRole('button', { name: 'Show Results, LaTeX' }).click();
  await page.getByText('has no metrics to export').waitFor();
  await page.close();
});

test.each(['light', 'dark'] as const)('the System page, %s', async (colorScheme) => {
  const page = await visit('/system', colorScheme);
  const complaints = hearComplaints(page);
  await page.getByRole('figure', { name: /^Processor: \d+ % now/ }).waitFor();
  await page.getByRole('region', { name: 'Checks' }).getByText(home).waitFor();
  await expectAccessible(page);
  const other = colorScheme === 'light' ? 'Dark' : 'Light';
  await page.getByRole('button', { name: other, exact: true }).click();
  expect(await page.locator('html').getAttribute('data-theme')).toBe(other.toLowerCase());
  await page.getByRole('button', { name: 'As the system' }).click();
  expect(await page.locator('html').getAttribute('data-theme')).toBe(colorScheme);
  const zip = await saved(page, 'Make a diagnostics file');
  expect(await namesIn(zip.bytes)).toEqual(
    expect.arrayContaining(['versions.json', 'findings.json', 'runs.json', 'core.log']),
  );
  expect(complaints).toEqual([]);
  await page.close();
});
