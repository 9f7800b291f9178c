import type { EpisodeSummary, Frame, Replay, ReplayTurn } from '../../core/contract/contract.ts';

/** A small generator, so that the same seed always makes the same episodes. */
export function random(seed: number): () => number {
  let state = (seed + 1) * 2654435761;
  return () => {
    state = (Math.imul(state ^ (state >>> 15), 2246822519) + 374761393) | 0;
    return ((state ^ (state >>> 13)) >>> 0) / 4294967296;
  };
}

const lakes = [
  '__GP\nOO__\n_OO_\nO___',
  'P__O\n_O__\n___O\nO__G',
  '_O_G\n____\n_O__\nP__O',
  '__P_\n_O__\n__O_\nG___',
  'G_O_\n__O_\nO___\n_P__',
];
const steps = { Left: [0, -1], Down: [1, 0], Right: [0, 1], Up: [-1, 0] } as const;
type Action = keyof typeof steps;
const names = Object.keys(steps) as Action[];

interface Options {
  iteration: number;
  split: string;
  group: number;
  member: number;
  index: number;
  slippery: boolean;
  /** Chance of an action that leads towards the goal. */
  skill: number;
  groupSize: number;
}

/** A FrozenLake episode as the trainer would have recorded it. */
export function lakeEpisode({ iteration, split, group, member, index, slippery, skill }: Options): Replay {
  const draw = random(iteration * 7919 + index * 31 + (split === 'train' ? 1 : 2));
  const seed = split === 'train' ? 10000 + (iteration - 1) * 8 + group : 123 + group;
  const grid = lakes[seed % lakes.length]!.split('\n').map((row) => [...row]);
  const find = (symbol: string) => {
    const row = grid.findIndex((line) => line.includes(symbol));
    return { row, column: grid[row]!.indexOf(symbol) };
  };
  let agent = find('P');
  const goal = find('G');
  grid[agent.row]![agent.column] = '_';
  const board = () =>
    grid
      .map((line, row) =>
        line
          .map((tile, column) => {
            if (row !== agent.row || column !== agent.column) return tile;
            return tile === 'O' ? 'X' : tile === 'G' ? '√' : 'P';
          })
          .join(''),
      )
      .join('\n');

  const frames: Frame[] = [
    {
      turn: 0,
      step: -1,
      action: null,
      board: board(),
      reward: 0,
      total: 0,
      effective: false,
      slipped: false,
      done: false,
      success: false,
      deadEnd: false,
    },
  ];
  const turns: ReplayTurn[] = [];
  let total = 0;
  let done = false;
  let success = false;
  let executed = 0;
  for (let turn = 0; turn < 5 && !done && executed < 10; turn++) {
    const state = board();
    const valid = draw() > 0.12 || turn === 0;
    const actions: Action[] = [];
    const planned = { ...agent };
    for (let step = 0, count = 1 + Math.floor(draw() * 3); step < count && valid; step++) {
      const options = names.filter((name) => {
        const row = planned.row + steps[name][0];
        const column = planned.column + steps[name][1];
        const nearer =
          Math.abs(goal.row - row) + Math.abs(goal.column - column) <
          Math.abs(goal.row - planned.row) + Math.abs(goal.column - planned.column);
        return nearer && grid[row]?.[column] !== 'O';
      });
      const action =
        draw() < skill && options.length > 0
          ? options[Math.floor(draw() * options.length)]!
          : names[Math.floor(draw() * 4)]!;
      actions.push(action);
      planned.row = Math.min(3, Math.max(0, planned.row + steps[action][0]));
      planned.column = Math.min(3, Math.max(0, planned.column + steps[action][1]));
      if (planned.row === goal.row && planned.column === goal.column) break;
    }
    const penalty = valid ? 0 : -0.1;
    let reward = 0;
    if (!valid) {
      total += penalty;
      frames.push({
        ...frames.at(-1)!,
        turn,
        step: -1,
        action: null,
        reward: 0,
        total,
        effective: false,
        slipped: false,
      });
    }
    for (const [step, action] of actions.entries()) {
      if (done || executed >= 10) break;
      const slipped = slippery && draw() < 0.3;
      const way = names.indexOf(action);
      const actual = slipped ? names[(way + (draw() < 0.5 ? 1 : 3)) % 4]! : action;
      const before = agent;
      agent = {
        row: Math.min(3, Math.max(0, agent.row + steps[actual][0])),
        column: Math.min(3, Math.max(0, agent.column + steps[actual][1])),
      };
      const tile = grid[agent.row]![agent.column];
      success = tile === 'G';
      done = success || tile === 'O';
      reward += success ? 1 : 0;
      total += success ? 1 : 0;
      executed += 1;
      const effective = before.row !== agent.row || before.column !== agent.column;
      frames.push({
        turn,
        step,
        action,
        board: board(),
        reward: success ? 1 : 0,
        total,
        effective,
        slipped,
        done,
        success,
        deadEnd: false,
      });
    }
    const thought = `I am at (${frames.at(-1)!.turn}, ${planned.column}). The goal is ${goal.row < agent.row ? 'up' : 'down'} and ${goal.column < agent.column ? 'left' : 'right'}. The holes are not in the way, so I go ${actions.join(', then ').toLowerCase() || 'on'}.`;
    turns.push({
      state,
      response: valid
        ? `<think>${thought}</think><answer>${actions.join(' || ')}</answer>`
        : '<think>The goal is right of me so I should go right right right',
      think: valid ? thought : null,
      answer: valid ? actions.join(' || ') : null,
      actions,
      formatValid: valid,
      reward,
      penalty,
      tokens: 24 + Math.floor(draw() * 30),
      logprobMean: -0.3 - draw() * 0.4,
      entropyMean: 0.3 + draw() * 0.4,
    });
  }
  const format_valid = turns.every(({ formatValid }) => formatValid);
  const summary: EpisodeSummary = {
    id: `${String(iteration).padStart(6, '0')}-${split}-${String(index).padStart(4, '0')}`,
    iteration,
    split,
    environment: 'frozen-lake',
    group,
    member,
    seed,
    reward: Math.round(total * 1000) / 1000,
    success,
    ended: done ? 'done' : executed >= 10 ? 'max_actions' : 'max_turns',
    turns: turns.length,
    actions: executed,
    tokens: turns.reduce((sum, { tokens }) => sum + tokens, 0),
    kept: split !== 'train' || group % 2 === 0,
    format_valid,
  };
  return {
    summary,
    type: 'frozen-lake',
    config: { size: 4, p: 0.8, is_slippery: slippery, success_rate: 0.8, observation_format: 'grid' },
    arms: null,
    prompt: `<|im_start|>user\nCross the lake. P is you, _ ice, O a hole, G the goal.\n${turns[0]!.state}<|im_end|>\n<|im_start|>assistant\n<think>`,
    frames,
    turns,
  };
}

/** A Bandit episode: one turn, one pull. */
export function banditEpisode({ iteration, split, group, member, index, skill }: Options): Replay {
  const draw = random(iteration * 7919 + index * 17);
  const arms = draw() < 0.5 ? ['Phoenix', 'Dragon'] : ['Dragon', 'Phoenix'];
  const action = draw() < skill ? 'Dragon' : 'Phoenix';
  const reward = action === 'Phoenix' ? 0.1 : draw() < 0.4 ? 1 : 0;
  const success = action === 'Dragon';
  const state = `You are playing a bandit game. Arms: ${arms.join(', ')}.`;
  const base = { turn: 0, board: null, slipped: false, deadEnd: false };
  return {
    summary: {
      id: `${String(iteration).padStart(6, '0')}-${split}-${String(index).padStart(4, '0')}`,
      iteration,
      split,
      environment: 'bandit',
      group,
      member,
      seed: 10000 + group,
      reward,
      success,
      ended: 'done',
      turns: 1,
      actions: 1,
      tokens: 31,
      kept: true,
      format_valid: true,
    },
    type: 'bandit',
    config: {
      lo_arm_name: 'phoenix',
      hi_arm_name: 'dragon',
      lo_arm_score: 0.1,
      hi_arm_loscore: 0,
      hi_arm_hiscore: 1,
      hi_arm_hiscore_prob: 0.25,
    },
    arms,
    prompt: `<|im_start|>user\n${state}<|im_end|>\n<|im_start|>assistant\n<think>`,
    frames: [
      { ...base, step: -1, action: null, reward: 0, total: 0, effective: false, done: false, success: false },
      { ...base, step: 0, action, reward, total: reward, effective: true, done: true, success },
    ],
    turns: [
      {
        state,
        response: `<think>The ${action} may pay more.</think><answer>${action}</answer>`,
        think: `The ${action} may pay more.`,
        answer: action,
        actions: [action],
        formatValid: true,
        reward,
        penalty: 0,
        tokens: 31,
        logprobMean: -0.41,
        entropyMean: 0.52,
      },
    ],
  };
}
