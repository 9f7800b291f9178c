import { banditChatPrompt } from '../environments/bandit.ts';
import type { Prompt } from '../environments/prompt.ts';
import { shopRules } from '../environments/webshop.ts';
import type { Draft } from './draft.ts';
import { isTree } from './parse-config.ts';

/** Prompts from RAGEN's `env_instruction`, in the message layout of its context manager. */

interface Tag {
  tag: string;
  type: string;
  config: Readonly<Record<string, unknown>>;
  maxActions: number;
}

/** Doubles braces, which mark variables in our templates. */
const literal = (text: string) => text.replace(/[{}]/g, '$&$&');

export function promptOf(draft: Draft, { tag, type, config, maxActions }: Tag): Prompt {
  const { from } = draft;
  const path = `custom_envs.${tag}`;
  const instruction = (from.text(`${path}.env_instruction`) ?? '').trim();
  const think = from.flag('agent_proxy.enable_think') ?? true;
  const words =
    from.integer(`${path}.max_tokens`, 1) ?? from.integer('actor_rollout_ref.rollout.response_length', 1) ?? 100;
  if (type === 'bandit') return banditPrompt(draft, tag, instruction, think);
  const form = `${think ? '<think>your thoughts</think>' : ''}<answer>your actions</answer>`;
  const turn = [
    'Turn {turn}:',
    'State:',
    '{state}',
    `You have {actions_left} actions left. Always answer in this form and write nothing else: ${form}`,
    `Write at most ${words} words.`,
  ].join('\n');
  const isShop = type === 'webshop';
  const rules = [
    ...(instruction === '' ? [] : [literal(instruction)]),
    ...(isShop && instruction === '' ? [shopRules] : []),
    ...(isShop ? [] : gridRules(type === 'sokoban' ? sokobanLegend(draft, path, config) : lakeLegend, maxActions)),
  ].join('\n');
  draft.note(
    'mapped',
    `${tag}: ${isShop && instruction === '' ? "StarPO Studio's instruction" : 'env_instruction'} begins the first message. Turn, state, reward and answer format follow as in RAGEN, but reworded, because RAGEN defines their text in code.`,
  );
  return { system: 'You are a helpful assistant.', first: `${rules}\n\n${turn}`, next: `Reward:\n{reward}\n\n${turn}` };
}

const gridRules = (legend: string, maxActions: number) => [
  `Symbols in the state: ${literal(legend)}.`,
  `Actions: {actions}. You can take up to ${maxActions} actions, up to {max_actions} per turn, separated by " || ".`,
];

function banditPrompt(draft: Draft, tag: string, instruction: string, think: boolean): Prompt {
  draft.note(
    instruction === '' ? 'changed' : 'mapped',
    `${tag}: the prompt is StarPO Studio's${instruction === '' ? '' : ', after env_instruction'}, because RAGEN describes the arms in its code.`,
  );
  const { first, ...prompt } = banditChatPrompt;
  const own = think
    ? first
    : first
        .replace('Think in at most 100 words, then name the machine', 'Name the machine')
        .replaceAll('<think>your thoughts</think>', '');
  return { ...prompt, first: instruction === '' ? own : `${literal(instruction)}\n${own}` };
}

const lakeLegend = 'P player, _ frozen, O hole, G goal, X player in hole, √ player on goal';

const sokobanWords = ['wall', 'empty', 'target', 'box on target', 'box', 'player', 'player on target'];

/** Returns the legend of the symbols in use. RAGEN shows that of its standard symbols even if a tag has others. */
function sokobanLegend(draft: Draft, path: string, config: Readonly<Record<string, unknown>>): string {
  const { from } = draft;
  const symbols = config.grid_lookup as Record<string, string>;
  const vocabulary = `${path}.env_config.grid_vocab`;
  const value = from.value(vocabulary);
  const own = isTree(value) ? value : {};
  const legend = sokobanWords.map((word, index) => {
    const symbol = String(symbols[index]);
    return `${symbol} ${own[symbol] ?? word}`;
  });
  if (from.has(`${path}.env_config.grid_lookup`))
    draft.changed(`${path}: the prompt explains the symbols in use. RAGEN explains its standard symbols instead.`);
  return legend.join(', ');
}
