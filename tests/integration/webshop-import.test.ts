import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { checkFile, findFiles } from '../../core/host/webshop/catalogue-files.ts';
import { commandLine } from '../command-line.ts';

const folder = mkdtempSync(join(tmpdir(), 'starpo-webshop-'));
afterAll(() => rmSync(folder, { recursive: true }));

const write = (name: string, value: unknown) => writeFileSync(join(folder, name), JSON.stringify(value));
const run = (...args: string[]) =>
  promisify(execFile)(process.execPath, [commandLine, 'webshop', 'import', folder, ...args]);

const mug = {
  asin: 'B0MUG00001',
  name: 'Red Mug',
  full_description: '',
  small_description: 'Dishwasher safe',
  pricing: '$12.50',
  customization_options: { color: [{ value: 'red' }, { value: 'navy' }] },
  images: [],
  product_category: 'Home › Mugs',
  category: 'garden',
  query: 'mugs',
};

beforeEach(() => {
  write('items_shuffle_1000.json', [mug]);
  write('items_ins_v2_1000.json', {
    B0MUG00001: { attributes: ['hand made'], instruction: 'Find me mugs', instruction_attributes: ['hand made'] },
  });
});

test('an import counts products and goals, and states which files are not the published ones', async () => {
  const { stdout } = await run('--json');
  expect(JSON.parse(stdout)).toEqual({
    catalogue: folder,
    files: [
      expect.objectContaining({ name: 'items_shuffle_1000.json', verdict: 'different' }),
      expect.objectContaining({ name: 'items_ins_v2_1000.json', verdict: 'different' }),
    ],
    missing: [{ name: 'items_human_ins*.json', content: 'human-written instructions', optional: 'human_goals' }],
    synthetic: { products: 1, goals: 2, products_with_nouns: 0 },
    human: null,
  });
  write('items_human_ins.json', {
    B0MUG00001: [{ instruction: 'i need a mug', instruction_attributes: ['hand made'], instruction_options: ['red'] }],
  });
  const text = (await run()).stdout;
  expect(text).toContain('1 products, 2 synthetic goals, 1 human goals');
  expect(text).toContain(`use it with --set environments.0.config.catalogue=${folder}`);
  rmSync(join(folder, 'items_human_ins.json'));
});

test('an import reports what is missing or invalid, and where to find it', async () => {
  write('items_shuffle_1000.json', [{ ...mug, pricing: 'cheap' }]);
  await expect(run()).rejects.toMatchObject({ code: 2, stderr: expect.stringMatching(/B0MUG00001.*pricing/) });
  rmSync(join(folder, 'items_ins_v2_1000.json'));
  expect(() => findFiles(folder)).toThrow(
    expect.objectContaining({ code: 'catalogue_missing', hint: expect.stringContaining('HongbangYuan/webshop') }),
  );
  expect(await checkFile(folder, { name: 'items_shuffle_1000.json', content: 'products' })).toMatchObject({
    verdict: 'different',
  });
});
