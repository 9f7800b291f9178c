import { availableParallelism } from 'node:os';
import { InferenceSession, Tensor } from 'onnxruntime-node';
import { Failure, messageOf } from '../contract/failure.ts';
import { sentence } from '../contract/sentence.ts';
import type { ModelConfig } from '../models/model-config.ts';
import { exportOnnx } from './onnx/export.ts';
import { names } from './onnx/qwen2.ts';

/** Half of the cores, since a run may be training. */
const threads = Math.max(1, Math.floor(availableParallelism() / 2));

/** A policy in ONNX Runtime with its KV cache. It blocks while it runs, so use it in a thread. */
export class Policy {
  private readonly config: ModelConfig;
  private readonly session: InferenceSession;
  private cache: Record<string, Tensor> = {};
  /** Length of the sequence in tokens. */
  length = 0;

  private constructor(config: ModelConfig, session: InferenceSession) {
    this.config = config;
    this.session = session;
    this.clear();
  }

  /** Throws as `exportOnnx` does, or `policy_unusable` if ONNX Runtime cannot load the model. */
  static async load(folder: string): Promise<Policy> {
    const { config, model } = await exportOnnx(folder);
    try {
      const session = await InferenceSession.create(model, {
        executionProviders: ['cpu'],
        intraOpNumThreads: threads,
        logSeverityLevel: 3,
        extra: {
          session: {
            model_external_initializers_file_folder_path: folder,
            // Do not spin while waiting for the next token.
            intra_op: { allow_spinning: '0' },
          },
        },
      });
      return new Policy(config, session);
    } catch (error) {
      throw new Failure(
        'policy_unusable',
        sentence(`ONNX Runtime can't load ${folder}: ${messageOf(error)}`),
        'Choose another checkpoint. If none works, reinstall the app.',
      );
    }
  }

  /** Clears the KV cache. */
  clear(): void {
    const { num_hidden_layers: layers, num_key_value_heads: heads, head_dim } = this.config;
    this.length = 0;
    this.cache = {};
    for (let layer = 0; layer < layers; layer += 1)
      for (const part of ['key', 'value'] as const)
        this.cache[names.past(layer, part)] = new Tensor('float32', new Float32Array(0), [1, heads, 0, head_dim]);
  }

  /**
   * Appends tokens to the sequence and returns the logits after each of the last `keep` tokens (0: all), as rows of the vocabulary's size. Throws
   * `sequence_too_long`, `token_out_of_vocabulary`, or `policy_failed` if a logit is not finite.
   */
  async read(ids: readonly number[], keep = 1): Promise<Float32Array> {
    this.check(ids);
    const outputs = await this.session.run({
      [names.ids]: new Tensor('int64', BigInt64Array.from(ids, BigInt), [1, ids.length]),
      [names.keep]: new Tensor('int64', BigInt64Array.of(BigInt(keep)), []),
      ...this.cache,
    });
    for (let layer = 0; layer < this.config.num_hidden_layers; layer += 1)
      for (const part of ['key', 'value'] as const)
        this.cache[names.past(layer, part)] = outputs[names.present(layer, part)] as Tensor;
    this.length += ids.length;
    const logits = outputs[names.logits]!.data as Float32Array;
    if (logits.every(Number.isFinite)) return logits;
    throw new Failure(
      'policy_failed',
      'The policy returned values that are not finite (NaN or infinity).',
      'Choose an earlier checkpoint.',
    );
  }

  async close(): Promise<void> {
    await this.session.release();
  }

  private check(ids: readonly number[]): void {
    const { vocab_size: vocabulary, max_position_embeddings: longest } = this.config;
    const invalid = ids.find((id) => !Number.isInteger(id) || id < 0 || id >= vocabulary);
    if (invalid !== undefined)
      throw new Failure(
        'token_out_of_vocabulary',
        `Token id ${invalid} is outside the policy's vocabulary.`,
        `Valid ids are 0 to ${vocabulary - 1}.`,
      );
    if (this.length + ids.length > longest)
      throw new Failure(
        'sequence_too_long',
        `The conversation exceeds the policy's maximum of ${longest} tokens.`,
        'Restart the level.',
      );
  }
}
