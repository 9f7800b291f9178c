import { expect, test } from 'vitest';
import type { ConfigForm } from '../../../core/contract/contract.ts';
import { enlargement, readPicture } from '../../../renderer/environments/process/png.ts';
import { cellLooks, describeGrid, isChanged, parseTextGrid } from '../../../renderer/environments/process/text-grid.ts';
import { environmentOf } from '../../../renderer/environments/registry.ts';
import { environmentName } from '../../../renderer/stores/draft.ts';

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

test('a new run names a program by its label, and other environments by their type', () => {
  const form = { types: { process: { title: 'Own program' }, bandit: { title: 'Bandit' } } } as unknown as ConfigForm;
  const names = [
    { label: 'pixel-walk', type: 'process' },
    { label: 'process', type: 'process' },
    { label: 'bandit-rev', type: 'bandit' },
    { label: 'maze', type: 'of-a-newer-version' },
  ].map((environment) => environmentName(form, environment));
  expect(names).toEqual(['pixel-walk', 'Own program', 'Bandit', 'maze']);
});

test('a grid is described row by row; powers of two are tiles, other cells keep their text', () => {
  const tiles = parseTextGrid('  2   .\n  . 256')!;
  expect(describeGrid(tiles)).toBe('Row 1: 2, empty. Row 2: empty, 256');
  expect(['2', '.', '256', '2048'].map((cell) => cellLooks(tiles)(cell).back)).toEqual([
    'tile1',
    'empty',
    'tile8',
    'tile8',
  ]);
  const room = parseTextGrid('#@.\n#3.')!;
  expect(['#', '@', '3', '.'].map((cell) => cellLooks(room)(cell))).toMatchObject([
    { back: 'wall', text: '' },
    { back: 'agent', text: '@' },
    { back: 'cell', text: '3' },
    { back: 'empty', text: '' },
  ]);
  expect(isChanged(tiles, parseTextGrid('  2   .\n  .   .'), 1, 1)).toBe(true);
  expect(isChanged(tiles, parseTextGrid('2 .\n. .\n. .'), 1, 1)).toBe(false);
});

test('a board is painted as a grid on the wall if every frame is one of the same size', () => {
  const { painter } = environmentOf('process');
  const frames = (...boards: string[]) => boards.map((board) => ({ board, action: null, slipped: false, reward: 0 }));
  const scene = painter.scene({ frames: frames('. 2\n. .', '. .\n2 4'), config: {}, arms: null })!;
  const texts = scene.pieces(1, 1).flatMap((piece) => ('text' in piece ? [piece.text] : []));
  expect([scene.width, scene.height, texts]).toEqual([92, 92, ['2', '4']]);
  expect(painter.scene({ frames: frames('. 2\n. .', 'the end'), config: {}, arms: null })).toBeNull();
});

const png = (width: number, height: number, extra = 0) => {
  const bytes = Buffer.alloc(33 + extra);
  bytes.set([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13]);
  bytes.write('IHDR', 12);
  bytes.writeUInt32BE(width, 16);
  bytes.writeUInt32BE(height, 20);
  return `data:image/png;base64,${bytes.toString('base64')}`;
};

test('pictures are painted on the wall in their proportions; a frame without a valid one shows the previous one', () => {
  const { painter } = environmentOf('process');
  const [first, second] = [png(64, 32), png(32, 32)];
  const boards = [first, 'data:image/png;base64,%', second];
  const frames = boards.map((board) => ({ board, action: null, slipped: false, reward: 0 }));
  const scene = painter.scene({ frames, config: {}, arms: null })!;
  expect([scene.width, scene.height, scene.images]).toEqual([120, 60, [first, second]]);
  const shown = (index: number) => scene.pieces(index, 1);
  expect(shown(1)).toEqual([{ x: 60, y: 30, width: 120, height: 60, image: first }]);
  expect(shown(2)).toMatchObject([{ image: second }]);
  const invalid = painter.scene({ frames: frames.slice(1, 2), config: {}, arms: null })!;
  expect(invalid.pieces(0, 1)).toMatchObject([{ text: 'No picture' }]);
});

test('the replay enlarges small pictures by a whole number', () => {
  const factors = [16, 64, 250, 480, 2048].map((width) => enlargement({ width, height: 10 }));
  expect(factors).toEqual([30, 7, 1, 1, 1]);
});

test('a picture is shown only if it is a PNG of at most 100 kB and 2048 pixels per side', () => {
  expect(readPicture(png(64, 48))).toEqual({ width: 64, height: 48 });
  expect(readPicture(png(2049, 48))).toContain('2049 × 48 pixels');
  expect(readPicture(png(64, 0))).toContain('64 × 0 pixels');
  expect(readPicture(png(64, 48, 100_000))).toBe('it exceeds 100 kB');
  expect(readPicture(`data:image/png;base64,${btoa('<svg onload=alert(1)>'.repeat(3))}`)).toBe('it is not a PNG');
  expect(readPicture('data:image/png;base64,%%%%')).toBe('its base64 is invalid');
  expect(readPicture('data:image/svg+xml;base64,AAAA')).toBe('it is not a PNG as a base64 data URL');
});
