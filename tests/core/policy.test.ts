import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { InferenceSession } from 'onnxruntime-node';
import { afterAll, describe, expect, test } from 'vitest';
import { readTensors, verifyTensors } from '../../core/models/safetensors.ts';
import { exportOnnx } from '../../core/play/onnx/export.ts';
import { Policy } from '../../core/play/policy.ts';
import { PolicyThread } from '../../core/play/policy-thread.ts';
import { sampleToken } from '../../core/play/sampler.ts';
import { starter } from './fixtures/playable.ts';
import { describeWithTrainer, trainer } from './fixtures/real-trainer.ts';

/** Returns the trainer's answers to requests for log-probabilities. */
function score(folder: string, requests: { ids: number[] }[]): { logprobs: number[] }[] {
  const input = requests.map((request) => `${JSON.stringify(request)}\n`).join('');
  const { stdout, stderr } = spawnSync(trainer, ['score', folder], { input, encoding: 'utf8' });
  expect(stderr).toBe('');
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}

/** Returns the log-probability of each id but the first, in nats, at temperature 1. `logits` has a row of the vocabulary's size per id. */
function logProbabilities(logits: Float32Array, ids: readonly number[], vocabulary: number): number[] {
  return ids.slice(1).map((id, place) => {
    const row = logits.subarray(place * vocabulary, (place + 1) * vocabulary);
    const largest = row.reduce((max, logit) => Math.max(max, logit));
    const sum = row.reduce((total, logit) => total + Math.exp(logit - largest), 0);
    return row[id]! - largest - Math.log(sum);
  });
}

let seed = 1;
/** Returns a pseudorandom number in (-1, 1) from a fixed seed. */
function draw(): number {
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
  return seed / 2 ** 31 - 1;
}
const idsBelow = (vocabulary: number, count: number) =>
  Array.from({ length: count }, () => Math.floor((Math.abs(draw()) * vocabulary) % vocabulary));

/** Writes a random model with grouped queries, an untied output head, biases, and weights of three types in two files. */
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
    const tensors: Record<string, number[]> = {
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
    for (const [name, shape] of Object.entries(tensors)) shapes.push([`model.layers.${layer}.${name}`, shape]);
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

describeWithTrainer('a policy in ONNX Runtime', { timeout: 60_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'starpo-policy-'));
  afterAll(() => rmSync(folder, { recursive: true }));

  test.each([
    ['the starter policy', () => starter, 512],
    ['grouped queries, an untied output head and 16-bit shards', () => makeModel(join(folder, 'small')), 97],
  ])("computes the trainer's log-probabilities: %s", async (_, make, vocabulary) => {
    const model = make();
    const sequences = [2, 17, 64, 200].map((count) => idsBelow(vocabulary, count));
    const scores = score(
      model,
      sequences.map((ids) => ({ ids })),
    );
    const policy = await Policy.load(model);
    for (const [index, ids] of sequences.entries()) {
      const { logprobs } = scores[index]!;
      policy.clear();
      const whole = logProbabilities(await policy.read(ids, 0), ids, vocabulary);
      // Play reads the prompt at once, then token by token through the cache.
      policy.clear();
      const half = ids.length >> 1;
      const cached = [await policy.read(ids.slice(0, half))];
      for (const id of ids.slice(half, -1)) cached.push(await policy.read([id]));
      const later = cached.map((row, place) => logProbabilities(row, [0, ids[half + place]!], vocabulary)[0]!);
      expect(furthest(whole, logprobs)).toBeLessThan(1e-4);
      expect(furthest(later, logprobs.slice(half - 1))).toBeLessThan(1e-4);
    }
    await policy.close();
  });

  function furthest(own: readonly number[], theirs: readonly number[]): number {
    expect(own).toHaveLength(theirs.length);
    return Math.max(...own.map((value, place) => Math.abs(value - theirs[place]!)));
  }

  test('refers to the weights instead of copying them', async () => {
    const { model } = await exportOnnx(starter);
    expect(model.length).toBeLessThan(60_000);
    expect(Buffer.from(model).includes('model.safetensors')).toBe(true);
  });

  test('has the input and output names of a decoder with a cache', async () => {
    const { model } = await exportOnnx(starter);
    const options = {
      extra: { session: { model_external_initializers_file_folder_path: starter } },
    };
    const session = await InferenceSession.create(model, options);
    expect(session.inputNames.slice(0, 3)).toEqual(['input_ids', 'num_logits_to_keep', 'past_key_values.0.key']);
    const [logits] = session.outputMetadata;
    expect(logits).toMatchObject({ name: 'logits', type: 'float32', shape: [1, 'kept', 512] });
    await session.release();
  });

  test('a changed bit is reported if the file has checksums', async () => {
    const data = Buffer.from(new Float32Array([1, 2]).buffer);
    const path = join(folder, 'two.safetensors');
    const write = (checksum: string) => {
      const header = JSON.stringify({
        __metadata__: { format: 'pt', 'crc32 a': checksum },
        a: { dtype: 'F32', shape: [2], data_offsets: [0, 8] },
      });
      const length = Buffer.alloc(8);
      length.writeBigUInt64LE(BigInt(header.length));
      writeFileSync(path, Buffer.concat([length, Buffer.from(header), data]));
    };
    const verify = async () => verifyTensors(path, await readTensors(path));
    const checksum = crc32(data).toString(16).padStart(8, '0');
    write(checksum);
    await verify();
    data[0]! ^= 1;
    write(checksum);
    await expect(verify()).rejects.toMatchObject({
      code: 'model_file_invalid',
      message: `Can't read ${path}: a was changed after it was written: its checksum differs.`,
    });
  });

  test('reports an invalid checkpoint', async () => {
    const broken = join(folder, 'broken');
    cpSync(starter, broken, { recursive: true });
    truncateSync(join(broken, 'model.safetensors'), 1_000_000);
    await expect(PolicyThread.start(broken)).rejects.toMatchObject({ code: 'model_file_invalid' });
    rmSync(join(broken, 'model.safetensors'));
    await expect(PolicyThread.start(broken)).rejects.toMatchObject({ code: 'model_file_missing' });
    writeFileSync(join(broken, 'config.json'), '{"model_type": "llama"}');
    await expect(PolicyThread.start(broken)).rejects.toMatchObject({
      code: 'model_unsupported',
      message: expect.stringContaining('model_type'),
    });
  });

  const request = {
    ids: idsBelow(512, 40),
    restart: true,
    stopIds: [],
    maxTokens: 20,
    sampling: { temperature: 0, topK: 0, topP: 1, minP: 0 },
  };
  const control = () => ({ signal: new AbortController().signal, onIds: () => {} });

  test('generates in a thread up to a stop id or the limit, and stops if aborted', async () => {
    const thread = await PolicyThread.start(starter);
    const partial: (readonly number[])[] = [];
    const onIds = (ids: readonly number[]) => partial.push(ids);
    const ids = await thread.generate(request, { ...control(), onIds });
    expect(ids).toHaveLength(request.maxTokens);
    for (const part of partial) expect(part).toEqual(ids.slice(0, part.length));
    expect(partial.length).toBeGreaterThan(0);
    const stopIds = [ids[5]!];
    const stopped = await thread.generate({ ...request, stopIds }, control());
    expect(stopped).toEqual(ids.slice(0, ids.indexOf(ids[5]!) + 1));

    // Continues with the cache as if it had read everything at once.
    const next = [7, 8, 9];
    const continued = { ...request, ids: [stopped.at(-1)!, ...next], restart: false };
    const whole = { ...request, ids: [...request.ids, ...stopped, ...next] };
    expect(await thread.generate(continued, control())).toEqual(await thread.generate(whole, control()));

    const abort = new AbortController();
    const aborted = thread.generate(request, { signal: abort.signal, onIds: () => abort.abort() });
    await expect(aborted).rejects.toMatchObject({ name: 'AbortError' });
    await thread.close();
    await expect(thread.generate(request, control())).rejects.toMatchObject({ code: 'policy_failed' });
  });

  test('does not continue without the previous tokens, as after a crash', async () => {
    const thread = await PolicyThread.start(starter);
    const continued = thread.generate({ ...request, restart: false }, control());
    await expect(continued).rejects.toMatchObject({ code: 'policy_failed' });
    await thread.close();
  });

  // Terminating a thread inside ONNX Runtime would abort the whole app.
  test('rejects pending requests when it is closed while generating', async () => {
    for (const _ of [1, 2, 3]) {
      const thread = await PolicyThread.start(starter);
      const pending = await new Promise<Promise<unknown>[]>((resolve) => {
        const first = thread.generate(
          { ...request, maxTokens: 120 },
          { ...control(), onIds: () => resolve([first, second]) },
        );
        const second = thread.generate(request, control());
      });
      const rejections = pending.map((each) => expect(each).rejects.toMatchObject({ code: 'policy_failed' }));
      await thread.close();
      await Promise.all(rejections);
    }
  });
});

describe('sampling a token', () => {
  const logits = Float32Array.of(1, 3, 2, 0);
  const all = { temperature: 1, topK: 0, topP: 1, minP: 0 };
  const drawn = (change: object) =>
    new Set(Array.from({ length: 400 }, (_, i) => sampleToken(logits, { ...all, ...change }, i / 400)));

  test('draws from the truncated distribution', () => {
    expect(drawn({ temperature: 0 })).toEqual(new Set([1]));
    expect(drawn({})).toEqual(new Set([0, 1, 2, 3]));
    expect(drawn({ topK: 2 })).toEqual(new Set([1, 2]));
    expect(drawn({ topP: 0.5 })).toEqual(new Set([1]));
    expect(drawn({ minP: 0.1 })).toEqual(new Set([0, 1, 2]));
  });

  // The same cases as in native/tests/rollout_sampler_test.cpp.
  test.each([
    [{ topK: 2 }, [0.625, 0.375, 0, 0]],
    [{ topP: 0.75 }, [0.625, 0.375, 0, 0]],
    [{ minP: 0.2 }, [10 / 19, 6 / 19, 3 / 19, 0]],
    [{ topP: 0.6 }, [0.625, 0.375, 0, 0]],
    [{ topK: 2, topP: 0.6 }, [1, 0, 0, 0]],
    [{ minP: 0.5, topP: 0.6 }, [1, 0, 0, 0]],
    [{ topK: 3, minP: 0.5 }, [0.625, 0.375, 0, 0]],
  ])('truncates as the trainer does: %j', (change, expected) => {
    const likely = Float32Array.of(0.5, 0.3, 0.15, 0.05).map(Math.log);
    const shares = [0, 0, 0, 0];
    for (let i = 0; i < 10_000; i += 1) shares[sampleToken(likely, { ...all, ...change }, i / 10_000)]! += 1e-4;
    for (const [id, share] of expected.entries()) expect(shares[id]).toBeCloseTo(share, 3);
  });

  test('follows the probabilities', () => {
    const shares = [0, 0, 0, 0];
    for (let i = 0; i < 10_000; i += 1) shares[sampleToken(logits, all, i / 10_000)]! += 1e-4;
    const weights = [...logits].map(Math.exp);
    const total = weights.reduce((sum, weight) => sum + weight);
    for (const [id, weight] of weights.entries()) expect(shares[id]).toBeCloseTo(weight / total, 3);
  });
});
