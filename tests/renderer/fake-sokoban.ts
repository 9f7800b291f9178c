import type { Frame, Replay, ReplayTurn } from '../../core/contract/contract.ts';
import { banditEpisode } from './fake-episodes.ts';

type Place = Parameters<typeof banditEpisode>[0];

const solved = [
  ['', '######\n#_O__#\n#__X_#\n#_P__#\n#____#\n######'],
  ['Right', '######\n#_O__#\n#__X_#\n#__P_#\n#____#\n######'],
  ['Up', '######\n#_OX_#\n#__P_#\n#____#\n#____#\n######'],
  ['Right', '######\n#_OX_#\n#___P#\n#____#\n#____#\n######'],
  ['Up', '######\n#_OXP#\n#____#\n#____#\n#____#\n######'],
  ['Left', '######\n#_√P_#\n#____#\n#____#\n#____#\n######'],
] as const;
const lost = [
  ['', '######\n#_O__#\n#_X__#\n#P___#\n#____#\n######'],
  ['Up', '######\n#_O__#\n#PX__#\n#____#\n#____#\n######'],
  ['Right', '######\n#_O__#\n#_PX_#\n#____#\n#____#\n######'],
  ['Right', '######\n#_O__#\n#__PX#\n#____#\n#____#\n######'],
  ['Down', '######\n#_O__#\n#___X#\n#__P_#\n#____#\n######'],
  ['Right', '######\n#_O__#\n#___X#\n#___P#\n#____#\n######'],
  ['Up', '######\n#_O_X#\n#___P#\n#____#\n#____#\n######'],
] as const;

/** A Sokoban episode as the trainer would have recorded it: even ones are solved, odd ones push the box to a wall without a target. */
export function sokobanEpisode(place: Place): Replay {
  const success = place.index % 2 === 0;
  const boards = success ? solved : lost;
  const firstLost = success ? boards.length : 3;
  let total = 0;
  const frames = boards.map(([action, board], at): Frame => {
    const done = success && at === boards.length - 1;
    const reward = at === 0 ? 0 : done ? 10.9 : -0.1;
    total += reward;
    return {
      turn: at > 3 ? 1 : 0,
      step: at === 0 ? -1 : (at - 1) % 3,
      action: action || null,
      board,
      reward,
      total,
      effective: at > 0,
      slipped: false,
      done,
      success: done,
      deadEnd: at >= firstLost,
    };
  });
  const turnOf = (turn: number): ReplayTurn => {
    const own = frames.filter((frame) => frame.turn === turn && frame.action !== null);
    const actions = own.map(({ action }) => action as string);
    const think = `player 3,2 box 2,3 target 1,2. push Up at 3,3. path ${actions.join(' ')}`;
    return {
      state: boards[turn === 0 ? 0 : 3]![1],
      response: `<think>${think}</think><answer>${actions.join(' || ')}</answer>`,
      think,
      answer: actions.join(' || '),
      actions,
      formatValid: true,
      reward: own.reduce((sum, { reward }) => sum + reward, 0),
      penalty: 0,
      tokens: 42,
      logprobMean: -0.3,
      entropyMean: 0.3,
    };
  };
  const { summary } = banditEpisode(place);
  return {
    summary: {
      ...summary,
      environment: 'sokoban',
      reward: total,
      success,
      ended: success ? 'done' : 'max_turns',
      turns: 2,
      actions: frames.length - 1,
    },
    type: 'sokoban',
    config: { dim_x: 6, dim_y: 6, num_boxes: 1, max_steps: 100, search_depth: 300 },
    arms: null,
    prompt: `<|im_start|>user\n${boards[0][1]}<|im_end|>\n<|im_start|>assistant\n<think>`,
    frames,
    turns: [turnOf(0), turnOf(1)],
  };
}
