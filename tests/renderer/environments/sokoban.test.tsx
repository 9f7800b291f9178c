import { act } from 'react';
import { createRoot } from 'react-dom/client';
import { describe, expect, test } from 'vitest';
import type { Frame } from '../../../core/contract/contract.ts';
import { describeBoard, describeFrame, outcomeAt } from '../../../renderer/environments/describe.ts';
import { parseLake } from '../../../renderer/environments/frozen-lake/lake.ts';
import { trail } from '../../../renderer/environments/grid.ts';
import { isStored, lostBox, parseRoom, roomAgent, roomMoveAt } from '../../../renderer/environments/sokoban/room.ts';
import styles from '../../../renderer/environments/sokoban/room-board.module.css';
import { RoomBoard } from '../../../renderer/environments/sokoban/room-board.tsx';
import { acted as actedFrom, motionAt, replayOf, still as stillFrom } from './replays.ts';

const boards = {
  start: '######\n#PX_O#\n######',
  pushed: '######\n#_PXO#\n######',
  blocked: '######\n#_PXO#\n######',
  solved: '######\n#__P√#\n######',
};
const still = stillFrom({ board: boards.start });
const acted = (change: Partial<Frame>) => actedFrom({ board: boards.start, ...change });
const frames: Frame[] = [
  still,
  acted({ action: 'Right', board: boards.pushed }),
  acted({ step: 1, action: 'Up', board: boards.blocked, effective: false }),
  acted({ turn: 1, action: 'Right', board: boards.solved, done: true, success: true }),
];

(globalThis as { IS_REACT_ACT_ENVIRONMENT?: boolean }).IS_REACT_ACT_ENVIRONMENT = true;

describe('a room', () => {
  test('is parsed with boxes, targets and agent', () => {
    const room = parseRoom('####\n#S√#\n#XO#\n####\n')!;
    expect(room).toMatchObject({ rows: 4, columns: 4, agent: { row: 1, column: 1 } });
    expect(room.ground.slice(4, 12)).toEqual(['wall', 'target', 'target', 'wall', 'wall', 'floor', 'target', 'wall']);
    expect(room.boxes).toEqual([
      { row: 1, column: 2 },
      { row: 2, column: 1 },
    ]);
    expect(room.boxes.map((box) => isStored(room, box))).toEqual([true, false]);
  });

  test.each(['', '###\n#', 'P_O', '#A#', 'P__O\n_O__\n___O\nO__√'])('cannot be parsed from %j', (text) => {
    expect(parseRoom(text)).toBeNull();
  });

  test('is not a lake', () => {
    for (const board of Object.values(boards)) expect(parseLake(board)).toBeNull();
  });
});

describe('a move', () => {
  test('moves the pushed box', () => {
    const step = (from: number, to: number) => ({
      from: { row: 1, column: from },
      to: { row: 1, column: to },
      intent: { row: 0, column: 1 },
      slipped: false,
    });
    expect(roomMoveAt(frames, 1)).toEqual({ agent: step(1, 2), box: step(2, 3), change: null });
    expect(roomMoveAt(frames, 3)).toMatchObject({ box: step(3, 4), change: 'stored' });
  });

  test('pushes no box if blocked; the first frame has no move', () => {
    expect(roomMoveAt(frames, 2)).toMatchObject({ box: null, change: null });
    expect(roomMoveAt(frames, 0)).toBeNull();
  });

  test('leaves a trail', () => {
    expect(trail(frames, 3, roomAgent).map(({ column }) => column)).toEqual([1, 2, 3]);
  });
});

test('describes outcomes', () => {
  const replay = replayOf('sokoban', frames);
  expect(frames.map((_, index) => outcomeAt(replay, index).tone)).toEqual(['idle', 'plain', 'idle', 'good']);
  const off = acted({ action: 'Right', board: '########\n#__SX__#\n########' });
  const walked = acted({ action: 'Left', board: '########\n#_POX__#\n########' });
  const more = [
    acted({ board: '########\n#_P√___#\n########' }),
    off,
    walked,
    acted({ action: 'Right', board: '########\n#__SX__#\n########' }),
    acted({ action: 'Right', board: '########\n#__OPX_#\n########' }),
  ];
  expect(frames.map((_, index) => describeFrame(replay, index))).toEqual([
    'Start',
    'Turn 1, action 1: Right, pushed a box',
    'Turn 1, action 2: Up, blocked',
    'Turn 2, action 1: Right, pushed the last box onto a target',
  ]);
  expect(more.map((_, index) => describeFrame(replayOf('sokoban', more), index).split(', ').at(-1))).toEqual([
    'Start',
    'pushed a box off its target',
    'moved',
    'moved',
    'pushed a box',
  ]);
  const two = [
    acted({ board: '#######\n#PXO_O#\n#__X__#\n#######' }),
    acted({ action: 'Right', board: '#######\n#_P√_O#\n#__X__#\n#######' }),
  ];
  expect(describeFrame(replayOf('sokoban', two), 1)).toBe('Turn 1, action 1: Right, pushed a box onto a target');
});

test('a lost box is marked from the push into the dead end on', async () => {
  const boardsOfLoss = [
    ['', '######\n#_O__#\n#_X__#\n#P___#\n######'],
    ['Up', '######\n#_O__#\n#PX__#\n#____#\n######'],
    ['Right', '######\n#_O__#\n#_PX_#\n#____#\n######'],
    ['Right', '######\n#_O__#\n#__PX#\n#____#\n######'],
    ['Down', '######\n#_O__#\n#___X#\n#__P_#\n######'],
    ['Right', '######\n#_O__#\n#___X#\n#___P#\n######'],
    ['Up', '######\n#_O_X#\n#___P#\n#____#\n######'],
  ] as const;
  const lost = boardsOfLoss.map(([action, board], index) => {
    const place = { turn: index > 3 ? 1 : 0, step: (index - 1) % 3 };
    return action ? actedFrom({ ...place, action, board, deadEnd: index >= 3 }) : stillFrom({ board });
  });
  const replay = replayOf('sokoban', lost);
  expect(lost.map((_, index) => lostBox(lost, index))).toEqual([
    null,
    null,
    null,
    { row: 2, column: 4 },
    { row: 2, column: 4 },
    { row: 2, column: 4 },
    { row: 1, column: 4 },
  ]);
  expect(describeFrame(replay, 3)).toBe('Turn 1, action 3: Right, pushed a box into a dead end');
  expect(describeFrame(replay, 6)).toBe('Turn 2, action 3: Up, pushed a box');
  expect(describeBoard(replay, 6)).toContain('The box at row 2, column 5 can no longer reach a target.');
  expect(describeBoard(replay, 2)).not.toContain('can no longer reach');

  const host = document.createElement('div');
  const root = createRoot(host);
  await act(() => root.render(<RoomBoard room={parseRoom(lost[3]!.board!)!} lost={lostBox(lost, 3)} />));
  expect(host.querySelector(`.${styles.box}`)!.getAttribute('data-state')).toBe('lost');
  await act(() => root.unmount());
});

test('the text alternative names agent, boxes and targets', () => {
  expect(describeBoard(replayOf('sokoban', frames), 1)).toBe(
    'Turn 1, action 1: Right, pushed a box. Room of 3 by 6. Agent at row 2, column 3. Boxes at row 2, column 4. Targets without a box at row 2, column 5.',
  );
  expect(describeBoard(replayOf('sokoban', frames), 3)).toContain(
    'Boxes on targets at row 2, column 5. Every target has a box.',
  );
  const onTarget = [stillFrom({ board: '####\n#S_#\n####' })];
  expect(describeBoard(replayOf('sokoban', onTarget), 0)).toContain('Agent at row 2, column 2, on a target.');
});

test('the board draws the frame', async () => {
  const host = document.createElement('div');
  const root = createRoot(host);
  const draw = (index: number, progress: number) =>
    act(() =>
      root.render(
        <RoomBoard
          room={parseRoom(frames[index]!.board!)!}
          move={roomMoveAt(frames, index)}
          motion={motionAt(progress)}
          path={trail(frames, index, roomAgent)}
          label="in words"
        />,
      ),
    );
  const placeOf = (selector: string) => host.querySelector(selector)!.getAttribute('transform');

  await draw(0, 1);
  expect(host.querySelectorAll(`.${styles.wall}`)).toHaveLength(14);
  expect(host.querySelectorAll(`.${styles.floor}`)).toHaveLength(4);
  expect(host.querySelectorAll(`.${styles.target}`)).toHaveLength(1);
  expect(host.querySelector('svg')?.getAttribute('aria-label')).toBe('in words');
  expect(placeOf(`.${styles.box}`)).toBe('translate(128 64)');

  await draw(1, 0.5);
  expect(placeOf(`.${styles.keeper}`)).toBe('translate(96 64)');
  expect(placeOf(`.${styles.box}`)).toBe('translate(160 64)');

  await draw(2, 1);
  expect(host.querySelector('[data-kind="blocked"]')).not.toBeNull();

  await draw(3, 0.5);
  expect(host.querySelector(`.${styles.box}`)!.getAttribute('data-state')).toBe('loose');
  await draw(3, 1);
  expect(host.querySelector(`.${styles.box}`)!.getAttribute('data-state')).toBe('stored');
  expect(placeOf(`.${styles.box}`)).toBe('translate(256 64)');
  await act(() => root.unmount());
});
