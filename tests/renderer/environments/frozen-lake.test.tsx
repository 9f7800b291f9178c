import { act } from 'react';
import { createRoot } from 'react-dom/client';
import { describe, expect, test } from 'vitest';
import type { Frame } from '../../../core/contract/contract.ts';
import { describeBoard, describeFrame, lettersIn, outcomeAt } from '../../../renderer/environments/describe.ts';
import { frozenLake } from '../../../renderer/environments/frozen-lake/frozen-lake.tsx';
import { lakeAgent, parseLake } from '../../../renderer/environments/frozen-lake/lake.ts';
import styles from '../../../renderer/environments/frozen-lake/lake-board.module.css';
import { LakeBoard } from '../../../renderer/environments/frozen-lake/lake-board.tsx';
import { moveAt as gridMove, positionAt, trail } from '../../../renderer/environments/grid.ts';
import { acted as actedFrom, motionAt, replayOf, still as stillFrom } from './replays.ts';

const still = { board: 'P_G\n_O_' };
const acted = (change: Partial<Frame>) => actedFrom({ ...still, ...change });
const moveAt = (frames: readonly Frame[], index: number) => gridMove(frames, index, lakeAgent);
const { frames } = replayOf('frozen-lake', [
  stillFrom(still),
  acted({ action: 'Right', board: '_PG\n_O_' }),
  acted({ step: 1, action: 'Up', board: '_PG\n_O_', effective: false }),
  acted({ turn: 1, action: 'Right', board: '__G\n_X_', slipped: true, done: true }),
]);

describe('a lake', () => {
  test('is parsed with its agent', () => {
    expect(parseLake('P_\nOG\n')).toEqual({
      rows: 2,
      columns: 2,
      tiles: ['ice', 'ice', 'hole', 'goal'],
      agent: { row: 0, column: 0 },
      surface: 'ice',
    });
    expect(parseLake('_√')).toMatchObject({
      tiles: ['ice', 'goal'],
      surface: 'goal',
      agent: { row: 0, column: 1 },
    });
    expect(parseLake('X_')).toMatchObject({ tiles: ['hole', 'ice'], surface: 'hole' });
  });

  test.each(['', 'P_\nO', 'Board size: 4', 'PQ'])('cannot be parsed from %j', (text) => {
    expect(parseLake(text)).toBeNull();
  });
});

describe('a move', () => {
  test('connects two cells', () => {
    const move = moveAt(frames, 1)!;
    expect(move).toEqual({
      from: { row: 0, column: 0 },
      to: { row: 0, column: 1 },
      intent: { row: 0, column: 1 },
      slipped: false,
    });
    expect(positionAt(move, 0)).toEqual({ row: 0, column: 0 });
    expect(positionAt(move, 0.5)).toEqual({ row: 0, column: 0.5 });
    expect(positionAt(move, 1)).toEqual({ row: 0, column: 1 });
  });

  test('bumps into the edge and returns if blocked', () => {
    const move = moveAt(frames, 2)!;
    expect(positionAt(move, 0.5).row).toBeLessThan(0);
    expect(positionAt(move, 1).row).toBeCloseTo(0, 12);
  });

  test('starts in the intended direction and ends elsewhere if the agent slips', () => {
    const move = moveAt(frames, 3)!;
    expect(positionAt(move, 0.25).column).toBeGreaterThan(1);
    expect(positionAt(move, 0.25).row).toBe(0);
    expect(positionAt(move, 1)).toEqual({ row: 1, column: 1 });
  });

  test('does not exist for the first frame', () => {
    expect(moveAt(frames, 0)).toBeNull();
  });
});

test('the trail has no consecutive duplicates', () => {
  expect(trail(frames, 2, lakeAgent)).toEqual([
    { row: 0, column: 0 },
    { row: 0, column: 1 },
  ]);
});

test('describes outcomes', () => {
  const replay = replayOf('frozen-lake', frames);
  expect(frames.map((_, index) => outcomeAt(replay, index).tone)).toEqual(['idle', 'plain', 'idle', 'bad']);
  const outcome = (change: Partial<Frame>) => outcomeAt(replayOf('frozen-lake', [acted(change)]), 0);
  expect(outcome({ action: 'Left', slipped: true })).toEqual({ tone: 'slip', text: 'slipped' });
  expect(outcome({ action: 'Right', board: '__√\n_O_', success: true, reward: 1 })).toEqual({
    tone: 'good',
    text: 'reached the goal',
    note: 'reached the goal',
  });
  expect(frames.map((_, index) => describeFrame(replay, index))).toEqual([
    'Start',
    'Turn 1, action 1: Right, moved',
    'Turn 1, action 2: Up, blocked',
    'Turn 2, action 1: Right, slipped and fell into a hole',
  ]);
  const idle = replayOf('frozen-lake', [stillFrom(still), stillFrom({ ...still, turn: 2 })]);
  expect(describeFrame(idle, 1)).toBe('Turn 3: no action');
});

test('the text alternative names agent, goal and holes', () => {
  expect(describeBoard(replayOf('frozen-lake', frames), 1)).toBe(
    'Turn 1, action 1: Right, moved. Board of 2 by 3. Agent at row 1, column 2. Goal at row 1, column 3. Holes at row 2, column 2.',
  );
});

test('the board draws the frame', async () => {
  (globalThis as { IS_REACT_ACT_ENVIRONMENT?: boolean }).IS_REACT_ACT_ENVIRONMENT = true;
  const host = document.createElement('div');
  const root = createRoot(host);
  const draw = (index: number, progress: number) =>
    act(() =>
      root.render(
        <LakeBoard
          lake={parseLake(frames[index]!.board!)!}
          move={moveAt(frames, index)}
          motion={motionAt(progress)}
          label="in words"
        />,
      ),
    );
  const agent = () => host.querySelector(`.${styles.agent}`)!;

  await draw(1, 0.5);
  expect(host.querySelectorAll(`.${styles.ice}`)).toHaveLength(6);
  expect(host.querySelectorAll(`.${styles.rim}`)).toHaveLength(1);
  expect(host.querySelectorAll(`.${styles.star}`)).toHaveLength(1);
  expect(host.querySelector('svg')?.getAttribute('aria-label')).toBe('in words');
  expect(agent().getAttribute('transform')).toContain('translate(64 32)');
  expect(host.querySelector('[data-kind="move"]')).not.toBeNull();
  expect(host.querySelector('[data-kind="intended"]')).toBeNull();

  await draw(2, 1);
  expect(host.querySelector('[data-kind="blocked"]')).not.toBeNull();

  await draw(3, 0.5);
  expect(agent().getAttribute('data-surface')).toBe('ice');
  await draw(3, 1);
  expect(agent().getAttribute('data-surface')).toBe('hole');
  expect(host.querySelector('[data-kind="intended"]')).not.toBeNull();
  expect(host.querySelector('[data-kind="slip"]')).not.toBeNull();
  await act(() => root.unmount());
});

test('explains the letters of a grid that occur, and no other text', () => {
  const { letters } = frozenLake;
  expect(lettersIn('P___\n_O__\n___G', letters)).toBe('P player, _ ice, O hole, G goal');
  expect(lettersIn('P _\n_ _', letters)).toBe('P player, _ ice');
  expect(lettersIn('player 0 goal 3 3', letters)).toBe('');
  expect(lettersIn('Player at (0, 1)\nGoal at (3, 3)', letters)).toBe('');
  expect(lettersIn('P_\n__')).toBe('');
});
