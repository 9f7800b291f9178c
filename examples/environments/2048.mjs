// 2048: slide the tiles; equal ones merge. Speaks docs/formats/process-environment.md.
import { createInterface } from 'node:readline';

const [size, goal] = [4, Number(process.argv[2] ?? 64)]; // the goal is the tile that wins
const actions = ['Left', 'Right', 'Up', 'Down'];
const episodes = new Map();

// Draws numbers from a seed (mulberry32), so that a level is the same in every run.
function randomNumbers(seed) {
  let state = seed % 2 ** 32;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function addTile(game) {
  const empty = game.cells.flatMap((value, index) => (value === 0 ? [index] : []));
  game.cells[empty[Math.floor(game.random() * empty.length)]] = game.random() < 0.9 ? 2 : 4;
  return game;
}

const newGame = (seed) => addTile(addTile({ cells: Array(size * size).fill(0), random: randomNumbers(seed) }));

// Returns the cells after a slide, and the sum of the merged tiles.
function slide(cells, direction) {
  const after = Array(size * size).fill(0);
  let merged = 0;
  for (let line = 0; line < size; line++) {
    const along = Array.from({ length: size }, (_, i) => (direction < 2 ? line * size + i : i * size + line));
    if (direction % 2 === 1) along.reverse();
    const tiles = along.map((cell) => cells[cell]).filter((value) => value > 0);
    for (let i = 0; i + 1 < tiles.length; i++)
      if (tiles[i] === tiles[i + 1]) merged += tiles[i] += tiles.splice(i + 1, 1)[0];
    for (const [i, value] of tiles.entries()) after[along[i]] = value;
  }
  return { after, merged };
}

const print = (message) => console.log(JSON.stringify(message));
const row = (cells, start) => cells.slice(start, start + size).map((value) => String(value || '.').padStart(4));
const text = (cells) => [0, 4, 8, 12].map((start) => row(cells, start).join('')).join('\n');
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, hello, reset, step } = JSON.parse(line);
  if (hello) return print({ hello: { version: 1, name: '2048', actions, episodes: 256 } });
  if (reset) episodes.set(id, newGame(reset.seed));
  const game = episodes.get(id);
  if (reset) return print({ id, observation: text(game.cells), board: text(game.cells) });
  if (step === undefined) return episodes.delete(id);
  const direction = actions.findIndex((name) => name.toLowerCase() === step.toLowerCase());
  const { after, merged } = slide(game.cells, direction);
  const effective = after.some((value, cell) => value !== game.cells[cell]);
  if (effective) addTile(Object.assign(game, { cells: after }));
  const success = Math.max(...game.cells) >= goal;
  const stuck = actions.every((_, way) => slide(game.cells, way).after.every((value, i) => value === game.cells[i]));
  const state = { observation: text(game.cells), board: text(game.cells), effective, success };
  print({ id, ...state, reward: merged / goal, done: success || stuck });
});
