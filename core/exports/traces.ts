import { createHash } from 'node:crypto';
import { z } from 'zod';
import { readVocabulary, textsOf, type Vocabulary } from '../episodes/vocabulary.ts';
import { episode } from '../run-directory/episode.ts';
import { trainSplit } from '../run-directory/names.ts';
import { float16Array, float32Array, int32Array } from '../run-directory/token-arrays.ts';
import { episodesOf } from './episodes-of.ts';
import type { RolloutEntry } from './record.ts';

/** Episodes as traces of verifiers (schema version 1), with the token ids that the policy saw and sampled. */

export const tracedEpisode = episode.extend({
  reward_terms: z.record(z.string(), z.number()).optional(),
  steps: z.array(episode.shape.steps.element.extend({ context_ids: z.string() })),
});
type TracedEpisode = z.infer<typeof tracedEpisode>;
type Turn = TracedEpisode['steps'][number];

interface Node {
  parent: number | null;
  message: { role: string; content: string };
  sampled: boolean;
  timestamp: null;
  /** The tokens that this message adds, template included. */
  token_ids: number[];
  /** Whether each token was sampled by the policy. */
  mask: boolean[];
  /** Whether each token is text of the message, rather than of the template. */
  is_content: boolean[];
  /** One entry per sampled token, as for `advantages`, which is null if the episode was not trained on. */
  logprobs: (number | null)[];
  advantages?: (number | null)[] | null;
}

/** Yields one JSON line per episode. `model` is the name of the trained model. */
export async function* traceLines(
  folder: string,
  rollouts: readonly RolloutEntry[],
  model: string,
  progress: (done: number, total: number) => void,
): AsyncGenerator<string> {
  const vocabulary = await readVocabulary(folder);
  for (const [index, rollout] of rollouts.entries()) {
    progress(index, rollouts.length);
    for await (const played of episodesOf(tracedEpisode, folder, rollout))
      yield `${JSON.stringify(traceOf(played, model, vocabulary))}\n`;
  }
}

/** Returns the trace of an episode. Without a vocabulary, each context is one message. */
export function traceOf(played: TracedEpisode, model: string, vocabulary: Vocabulary | null) {
  const { id, type, config, seed, environment, reward, reward_terms: terms } = played;
  const data = { environment, config, seed };
  const nodes: Node[] = [];
  for (const turn of played.steps) addTurn(nodes, turn, vocabulary);
  const scores = played.void ? [] : Object.entries(terms ?? { reward });
  return {
    version: 1,
    id,
    task: { type, data, key: `${type}/${seed}`, hash: sha256(JSON.stringify([type, data])) },
    agent: { name: 'policy', config: { model }, runtime: 'starpo-studio', trainable: true },
    tools: [],
    nodes,
    calls: nodes.flatMap(({ sampled, mask }, node) => (sampled ? [callOf(node, mask, model)] : [])),
    rewards: Object.fromEntries(scores.map(([name, score]) => [name, { score, weight: 1 }])),
    metrics: {
      ...{ reward, success: Number(played.success), turns: played.turns, actions: played.actions },
      ...{ tokens: played.tokens, format_valid: Number(played.format_valid) },
    },
    info: {
      ...{ iteration: played.iteration, split: played.split, group: played.group, member: played.member },
      ...{ ended: played.ended, trained_on: played.kept && played.split === trainSplit },
    },
    timing: null,
    errors: played.void ? [{ type: 'environment_failed', message: played.void.reason }] : [],
  };
}

function callOf(node: number, mask: readonly boolean[], model: string) {
  const completion = mask.filter(Boolean).length;
  return { node, model, usage: { completion_tokens: completion }, error: null };
}

/** Adds the messages of a turn's context and the response, whose tokens begin with those of the generation prompt. Each new context begins another tree. */
function addTurn(nodes: Node[], turn: Turn, vocabulary: Vocabulary | null): void {
  const { context_ids, begins_context, tokens, response, state } = turn;
  let isRoot = begins_context || nodes.length === 0;
  const context = int32Array(context_ids);
  const texts = vocabulary && textsOf(vocabulary, context);
  const starts = texts ? [...texts.keys()].filter((at) => texts[at] === '<|im_start|>') : [];
  // Without the vocabulary, one node has the whole context.
  const last = starts.at(-1) ?? context.length;
  const edges = starts.length > 1 ? [0, ...starts.slice(1, -1), last] : [0, last];
  for (const [index, begin] of edges.slice(0, -1).entries()) {
    const end = edges[index + 1]!;
    if (end > begin) add(messageOf(context.slice(begin, end), texts?.slice(begin, end) ?? null, state));
  }
  const ids = int32Array(tokens.ids);
  const prompt = context.slice(last);
  // The last token of the generation prompt begins the response: `<think>` or `<answer>`.
  const promptContent = prompt.map((_, at) => at === prompt.length - 1);
  const ending = vocabulary && textsOf(vocabulary, ids).at(-1);
  add({
    message: { role: 'assistant', content: response },
    sampled: true,
    token_ids: [...prompt, ...ids],
    mask: [...prompt.map(() => false), ...ids.map(() => true)],
    is_content: [...promptContent, ...ids.map((_, at) => at < ids.length - 1 || !/^<\|.*\|>$/.test(ending ?? ''))],
    logprobs: float32Array(tokens.logprobs).map(finite),
    advantages: tokens.advantages === undefined ? null : float16Array(tokens.advantages).map(finite),
  });

  function add(node: Omit<Node, 'parent' | 'timestamp'>): void {
    nodes.push({ parent: isRoot ? null : nodes.length - 1, timestamp: null, ...node });
    isRoot = false;
  }
}

/** Returns a message of the context: its role is the first line after `<|im_start|>`, its content the text up to `<|im_end|>`. */
function messageOf(ids: number[], texts: string[] | null, state: string): Omit<Node, 'parent' | 'timestamp'> {
  const begin = texts?.indexOf('<|im_start|>') ?? -1;
  // A token can have the line break and the beginning of the content.
  const line = texts?.findIndex((text, at) => at > begin && text.includes('\n')) ?? -1;
  const end = texts?.indexOf('<|im_end|>', begin) ?? -1;
  const isWhole = begin >= 0 && line > begin && end > line;
  const [role, ...content] = isWhole
    ? texts!
        .slice(begin + 1, end)
        .join('')
        .split('\n')
    : ['user', state];
  return {
    message: { role: role!, content: content.join('\n') },
    sampled: false,
    token_ids: ids,
    mask: ids.map(() => false),
    is_content: ids.map((_, at) => !isWhole || (at > line && at < end)),
    logprobs: [],
  };
}

const finite = (value: number) => (Number.isFinite(value) ? value : null);
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
