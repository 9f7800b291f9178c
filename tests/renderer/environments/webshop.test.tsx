import { act } from 'react';
import { createRoot } from 'react-dom/client';
import { expect, test, vi } from 'vitest';
import { describeBoard, outcomeAt } from '../../../renderer/environments/describe.ts';
import { environmentOf } from '../../../renderer/environments/registry.ts';
import { acted, motionAt, replayOf, still } from './replays.ts';

(globalThis as { IS_REACT_ACT_ENVIRONMENT?: boolean }).IS_REACT_ACT_ENVIRONMENT = true;

const goal = {
  asin: 'B0MUG00001',
  title: 'Rosmere Red Ceramic Mug',
  instruction: 'Find me dishwasher safe mugs with color: red, and price lower than 30.00 dollars',
  attributes: ['dishwasher safe'],
  options: [{ name: 'color', value: 'red' }],
  price_cap: 30,
};
const product = {
  asin: 'B0MUG00001',
  title: 'Rosmere Red Ceramic Mug',
  price: '$12.5',
  options: [{ name: 'color', values: ['red', 'navy'] }],
};
const chosen = [{ name: 'color', value: 'navy' }];
const reward = {
  total: 2 / 3,
  type: 1,
  attributes: 1,
  requested_attributes: 1,
  options: 0,
  requested_options: 1,
  price_matches: true,
  price: 12.5,
};
const results = { kind: 'results', query: 'mugs', number: 2, results: 12, products: [{ ...product, visited: false }] };
const pages = [
  { kind: 'index', goal },
  results,
  { kind: 'item', product, chosen: [] },
  { kind: 'features', product, chosen: [], texts: ['Dishwasher safe'] },
  { kind: 'item', product, chosen },
  { kind: 'done', product, chosen, reward },
];
const actions = [null, 'search[mugs]', 'click[b0mug00001]', 'click[features]', 'click[navy]', 'click[buy now]'];
const episode = replayOf(
  'webshop',
  pages.map((page, index) => {
    const frame = { action: actions[index]!, board: JSON.stringify(page) };
    return index === 0 ? still(frame) : acted({ ...frame, done: page.kind === 'done' });
  }),
);
const { Board, painter } = environmentOf('webshop');

/** Renders a frame and returns its page. */
async function shown(index: number, act_?: (action: string) => void) {
  const host = document.createElement('div');
  const root = createRoot(host);
  await act(() => root.render(<Board replay={episode} index={index} motion={motionAt(1)} label="words" act={act_} />));
  return { host, unmount: () => act(() => root.unmount()) };
}

test('a frame is described by its page, with the parts of a reward', () => {
  expect(describeBoard(episode, 1)).toBe(
    'Turn 1, action 1: search[mugs], 12 results. Page 2 of the results for “mugs”: Rosmere Red Ceramic Mug, $12.5.',
  );
  expect(outcomeAt(episode, 4).text).toBe('chose an option');
  expect(describeBoard(episode, 5)).toContain(
    'Bought Rosmere Red Ceramic Mug. Chosen: navy. Reward 0.67: kind of product 1, 1 of 1 attributes, 0 of 1 options, price fits.',
  );
});

test('a purchase shows each part of its reward against the goal', async () => {
  const { host, unmount } = await shown(5);
  const rows = [...host.querySelectorAll('tr')]
    .slice(1)
    .map((row) => [...row.children].map((cell) => cell.textContent));
  expect(rows).toEqual([
    ['Attributes', '1 of 1', 'dishwasher safe'],
    ['Options', '0 of 1', 'red'],
    ['Price', '1 of 1', '$12.50, limit $30.00'],
    ['Kind of product', '× 1', 'Rosmere Red Ceramic Mug'],
    ['Reward', '0.67', ''],
  ]);
  expect(host.querySelectorAll('button')).toHaveLength(0);
  await unmount();
});

test('in Play, the search, products, options and buttons of a page act', async () => {
  const done = vi.fn();
  const press = async (index: number, text: string) => {
    const { host, unmount } = await shown(index, done);
    const button = [...host.querySelectorAll('button')].find(({ textContent }) => textContent === text)!;
    await act(() => button.click());
    await unmount();
  };
  await press(1, 'B0MUG00001');
  await press(1, '< Prev');
  await press(2, 'navy');
  await press(4, 'Buy Now');
  expect(done.mock.calls.flat()).toEqual(['click[b0mug00001]', 'click[< prev]', 'click[navy]', 'click[buy now]']);
});

test('the wall paints the kind of page and the reward of a purchase', () => {
  const scene = painter.scene(episode)!;
  const stamps = (index: number) =>
    scene.pieces(index, 1).map((piece) => ('stamp' in piece ? piece.stamp : 'text' in piece && piece.text));
  expect(pages.map((_, index) => stamps(index))).toEqual([
    ['index'],
    ['results'],
    ['item'],
    ['text'],
    ['item', 'chosen'],
    ['bought', '0.67'],
  ]);
  expect(painter.scene(replayOf('webshop', [still({ board: 'text' })]))).toBeNull();
});
