import { expect, test } from 'vitest';
import { environments } from '../../../core/environments/registry.ts';
import { environmentOf } from '../../../renderer/environments/registry.ts';

const sources = import.meta.glob<string>('../../../renderer/**/*.{ts,tsx}', {
  query: '?raw',
  import: 'default',
  eager: true,
});

// The boards of programs are unknown, and their type is a common word.
const builtIn = environments.map(({ type }) => type).filter((type) => type !== 'process');

test.each(builtIn)('%s, an environment of core, has a board of its own', (type) => {
  expect(environmentOf(type).Board).not.toBe(environmentOf('unknown').Board);
  expect(environmentOf(type)).toMatchObject({ type, title: expect.stringMatching(/./) });
});

test('only environment folders name an environment', () => {
  const names = new RegExp(builtIn.map((type) => type.replaceAll('-', '-?')).join('|'), 'i');
  const outside = Object.entries(sources).filter(([path]) => !path.includes('/renderer/environments/'));
  expect(outside.length).toBeGreaterThan(50);
  expect(outside.filter(([, text]) => names.test(text)).map(([path]) => path)).toEqual([]);
});
