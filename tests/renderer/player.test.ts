import { describe, expect, test } from 'vitest';
import type { Frame } from '../../core/contract/contract.ts';
import {
  initialPlayer,
  isMoving,
  keyAction,
  type PlayerAction,
  type PlayerState,
  player,
  restOf,
} from '../../renderer/player/player.ts';
import { hasOwnKeys } from '../../renderer/player/use-player.ts';

const loaded = player(initialPlayer, { type: 'load', count: 4 });
const play = (state: PlayerState, ...actions: PlayerAction[]) => actions.reduce(player, state);
const tick = (elapsed: number, pause = 400): PlayerAction => ({ type: 'tick', elapsed, pause });

describe('the player', () => {
  test('starts at rest on the first frame', () => {
    expect(loaded).toMatchObject({ index: 0, motion: 1, playing: false });
    expect(isMoving(loaded)).toBe(false);
  });

  test('animates steps forward but not back, within the episode', () => {
    const ahead = play(loaded, { type: 'step', by: 1 });
    expect(ahead).toMatchObject({ index: 1, motion: 0, playing: false });
    expect(isMoving(ahead)).toBe(true);
    expect(play(ahead, { type: 'step', by: -1 })).toMatchObject({ index: 0, motion: 1 });
    expect(play(loaded, { type: 'step', by: -1 })).toMatchObject({ index: 0, motion: 1 });
    expect(play(loaded, { type: 'end' }, { type: 'step', by: 1 })).toMatchObject({ index: 3, motion: 1 });
  });

  test('pauses between frames and stops at the end', () => {
    let state = play(loaded, { type: 'toggle' }, tick(399));
    expect(state.index).toBe(0);
    state = play(state, tick(1));
    expect(state).toMatchObject({ index: 1, motion: 0 });
    for (let frame = 0; frame < 1000 && state.playing; frame++) state = player(state, tick(16));
    expect(state).toMatchObject({ index: 3, motion: 1, playing: false });
  });

  test('takes half the time at double speed', () => {
    const ticks = (speed: number) => {
      let state = play(loaded, { type: 'speed', speed }, { type: 'toggle' });
      let count = 0;
      for (; state.playing && count < 10_000; count++) state = player(state, tick(1));
      return count;
    };
    expect(ticks(2) / ticks(1)).toBeCloseTo(0.5, 1);
  });

  test('restarts when played from the end', () => {
    expect(play(loaded, { type: 'end' }, { type: 'toggle' })).toMatchObject({ index: 0, playing: true });
  });

  test("doesn't play an episode of one frame", () => {
    expect(play(initialPlayer, { type: 'load', count: 1 }, { type: 'toggle' }).playing).toBe(false);
  });

  test('pauses on seek', () => {
    expect(play(loaded, { type: 'toggle' }, { type: 'seek', index: 99 })).toMatchObject({
      index: 3,
      playing: false,
    });
  });

  test('keeps its speed for the next episode', () => {
    const state = play(loaded, { type: 'faster' }, { type: 'load', count: 2 });
    expect(state).toMatchObject({ speed: 2, index: 0, count: 2 });
    expect(play(state, { type: 'slower' }, { type: 'slower' }, { type: 'slower' }).speed).toBe(0.5);
  });
});

test.each<[string, PlayerAction | null]>([
  [' ', { type: 'toggle' }],
  ['ArrowLeft', { type: 'step', by: -1 }],
  ['ArrowRight', { type: 'step', by: 1 }],
  ['Home', { type: 'home' }],
  ['End', { type: 'end' }],
  ['+', { type: 'faster' }],
  ['-', { type: 'slower' }],
  ['a', null],
  ['Tab', null],
])('the key %j', (key, action) => {
  expect(keyAction(key)).toEqual(action);
});

test('controls keep their own keys', () => {
  document.body.innerHTML =
    '<input type="range"><button><span></span></button><p></p><a href="#"></a><div data-own-keys><b></b></div><div role="dialog"><i></i></div>';
  const [input, inside, text, link, own, dialogText] = ['input', 'span', 'p', 'a', 'b', 'i'].map(
    (selector) => document.querySelector(selector)!,
  );
  expect(hasOwnKeys(input!, 'ArrowLeft')).toBe(true);
  expect(hasOwnKeys(inside!, ' ')).toBe(true);
  expect(hasOwnKeys(inside!, 'ArrowLeft')).toBe(false);
  expect(hasOwnKeys(text!, ' ')).toBe(false);
  expect(hasOwnKeys(link!, ' ')).toBe(false);
  expect(hasOwnKeys(own!, 'Home')).toBe(true);
  expect(hasOwnKeys(dialogText!, 'ArrowLeft')).toBe(true);
});

test('a frame stays longer before a new turn', () => {
  const frames = [-1, 0, 1, 0, -1].map((step) => ({ step }) as Frame);
  const rests = frames.map((_, index) => restOf(frames, index));
  expect(rests[0]).toBe(rests[2]);
  expect(rests[0]).toBe(rests[3]);
  expect(rests[0]).toBeGreaterThan(rests[1]!);
});
