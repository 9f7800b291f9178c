import { expect, test } from 'vitest';
import { parseTextGrid } from '../../../renderer/environments/process/text-grid.ts';
import { environmentOf } from '../../../renderer/environments/registry.ts';

test('a text is a grid if its rows have equally many words or characters', () => {
  expect(parseTextGrid('   .   2\n 128   .')).toEqual([
    ['.', '2'],
    ['128', '.'],
  ]);
  expect(parseTextGrid('#P_\n_G#\n')).toEqual([
    ['#', 'P', '_'],
    ['_', 'G', '#'],
  ]);
  expect(parseTextGrid('You see a door.\nIt is closed.')).toBeNull();
  expect(parseTextGrid('Numbers: 1, 2')).toBeNull();
  expect(parseTextGrid('ab\nabc')).toBeNull();
  expect(parseTextGrid('')).toBeNull();
  expect(parseTextGrid(`${'x'.repeat(33)}\n${'x'.repeat(33)}`)).toBeNull();
});

test('its title does not name a program that the app does not know', () => {
  expect(environmentOf('process')).toMatchObject({ type: 'process', title: 'Own program' });
});
