import { expect, test } from 'vitest';
import { panelWords } from '../../core/contract/panel-words.ts';
import { webshop } from '../../core/environments/webshop.ts';
import { baseConfig } from '../../core/presets/base.ts';
import { withOwnDigest } from '../../core/run-config/environment-files.ts';
import { panelOf, panelsOf, readPanels } from '../../core/run-config/panel.ts';

const [lake] = baseConfig.environments;
const levels = { seed: 123, levels: 256 };

test('equal levels have the same hash, whatever the order of keys, the label and the prompts', () => {
  const { hash } = panelOf(lake!, levels);
  const config = Object.fromEntries(Object.entries(lake!.config).reverse());
  expect(panelOf({ ...lake!, config, label: 'other' }, levels).hash).toBe(hash);
  expect(hash).toMatch(/^[0-9a-f]{64}$/);
});

test.each([
  ['seed', lake!, { ...levels, seed: 124 }],
  ['number', lake!, { ...levels, levels: 255 }],
  ['configuration', { ...lake!, config: { ...lake!.config, size: 5 } }, levels],
  ['noise', { ...lake!, noise: 'independent' as const }, levels],
])('levels with another %s have another hash', (_, environment, of) => {
  expect(panelOf(environment, of).hash).not.toBe(panelOf(lake!, levels).hash);
});

test('levels that depend on files have the hash of their content, in every folder', () => {
  const shop = { ...webshop.preset, files_sha256: 'a'.repeat(64) };
  const hashOf = (catalogue: string, files_sha256: string) =>
    panelOf({ ...shop, config: { ...shop.config, catalogue }, files_sha256 }, levels).hash;
  expect(hashOf('/elsewhere', 'a'.repeat(64))).toBe(hashOf('/data', 'a'.repeat(64)));
  expect(hashOf('/data', 'b'.repeat(64))).not.toBe(hashOf('/data', 'a'.repeat(64)));
  expect(hashOf('/elsewhere', '')).not.toBe(hashOf('/data', ''));
  expect(panelOf(shop, levels).panel.environment).toMatchObject({ files_sha256: 'a'.repeat(64) });
  expect(panelOf(shop, levels).panel.environment.config).not.toHaveProperty('catalogue');
});

test('an environment with other files loses the digest of the original', () => {
  const shop = { ...webshop.preset, files_sha256: 'a'.repeat(64) };
  const moved = { ...shop, config: { ...shop.config, catalogue: '/data' } };
  expect(withOwnDigest(moved, shop).files_sha256).toBe('');
  expect(withOwnDigest({ ...moved, files_sha256: 'b'.repeat(64) }, shop).files_sha256).toBe('b'.repeat(64));
  expect(withOwnDigest({ ...shop, max_turns: 4 }, shop).files_sha256).toBe('a'.repeat(64));
});

test('the words for panels state when levels differ', () => {
  const [a, b] = ['aaaaaaaaaa', 'bbbbbbbbbb'].map((hash) => ({ label: 'lake', hash }));
  expect(panelWords([a!, a!, { label: 'other', hash: 'cccccccccc' }], 'lake')).toBe('panel aaaaaaaa');
  expect(panelWords([b!, a!], 'lake')).toBe('different levels: panels aaaaaaaa, bbbbbbbb');
  expect(panelWords([a!], 'other')).toBe('');
});

test('a run has a panel per evaluated environment, and none without a configuration', () => {
  const environments = [lake!, { ...lake!, label: 'unseen', validate: false }];
  expect(panelsOf({ ...baseConfig, environments }).map(({ label }) => label)).toEqual(['frozen-lake']);
  expect(readPanels(baseConfig)).toEqual([{ label: 'frozen-lake', hash: panelOf(lake!, levels).hash }]);
  expect(readPanels({ task: 'imported' })).toEqual([]);
});
