import { act } from 'react';
import { createRoot } from 'react-dom/client';
import { expect, test } from 'vitest';
import { describeBoard, describeFrame, outcomeAt } from '../../../renderer/environments/describe.ts';
import { arrived } from '../../../renderer/environments/motion.ts';
import { environmentOf } from '../../../renderer/environments/registry.ts';
import { acted, replayOf, still } from './replays.ts';

(globalThis as { IS_REACT_ACT_ENVIRONMENT?: boolean }).IS_REACT_ACT_ENVIRONMENT = true;

const replay = replayOf('maze', [
  still({ board: 'a maze' }),
  acted({ action: 'walk north', board: 'further north' }),
  acted({ step: 1, action: 'shout', board: 'further north', effective: false }),
  acted({ turn: 1, action: 'walk on', board: 'elsewhere', slipped: true, facts: ['found_a_key'] }),
  acted({ turn: 1, step: 1, action: 'leave', board: 'outside', success: true, done: true }),
]);

test('an unknown environment has generic outcomes', () => {
  expect(replay.frames.map((_, index) => describeFrame(replay, index))).toEqual([
    'Start',
    'Turn 1, action 1: walk north, changed the state',
    'Turn 1, action 2: shout, changed nothing',
    'Turn 2, action 1: walk on, slipped, found a key',
    'Turn 2, action 2: leave, succeeded',
  ]);
  expect(replay.frames.map((_, index) => outcomeAt(replay, index).tone)).toEqual([
    'idle',
    'plain',
    'idle',
    'slip',
    'good',
  ]);
  expect(describeBoard(replay, 1)).toBe('Turn 1, action 1: walk north, changed the state. further north');
  expect(environmentOf('maze')).toMatchObject({ type: 'maze', title: 'maze' });
});

test('its state is shown as recorded text', async () => {
  const { Board } = environmentOf('maze');
  const host = document.createElement('div');
  const root = createRoot(host);
  const draw = (index: number) =>
    act(() => root.render(<Board replay={replay} index={index} motion={arrived} label="" />));
  await draw(0);
  expect(host.querySelector('pre')?.textContent).toBe('a maze');
  const drawn = host.querySelector('pre');
  await draw(4);
  expect(host.querySelector('pre')?.textContent).toBe('outside');
  expect(host.querySelector('pre')).toBe(drawn);
  await act(() => root.unmount());
});
