import { expect, test } from 'vitest';
import { panelHashes, panelsInBrackets, panelWords } from '../../core/contract/panel-words.ts';
import { webshop } from '../../core/environments/webshop.ts';
import { withOwnDigest } from '../../core/run-config/environment-files.ts';

const [a, b] = ['aaaaaaaaaa', 'bbbbbbbbbb'].map((hash) => ({ label: 'lake', hash })) as [
  { label: string; hash: string },
  { label: string; hash: string },
];

test('the words for panels state when levels differ', () => {
  expect(panelWords([a, a, { label: 'other', hash: 'cccccccccc' }], 'lake')).toBe('panel aaaaaaaa');
  expect(panelWords([b, a], 'lake')).toBe('different levels: panels aaaaaaaa, bbbbbbbb');
  expect(panelWords([a], 'other')).toBe('');
});

test('panels are listed by short hash, and a run without an evaluation has none', () => {
  expect(panelHashes([a, a, b])).toBe('aaaaaaaa, bbbbbbbb');
  expect(panelsInBrackets([a])).toBe(' (panel lake aaaaaaaa)');
  expect([panelHashes([]), panelsInBrackets([])]).toEqual(['', '']);
});

test('an environment with other files loses the digest of the original', () => {
  const shop = { ...webshop.preset, files_sha256: 'a'.repeat(64) };
  const moved = { ...shop, config: { ...shop.config, catalogue: '/data' } };
  expect(withOwnDigest(moved, shop).files_sha256).toBe('');
  expect(withOwnDigest({ ...moved, files_sha256: 'b'.repeat(64) }, shop).files_sha256).toBe('b'.repeat(64));
  expect(withOwnDigest({ ...shop, max_turns: 4 }, shop).files_sha256).toBe('a'.repeat(64));
});
