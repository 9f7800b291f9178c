import { existsSync } from 'node:fs';
import { join } from 'node:path';
import product from '../../../package.json' with { type: 'json' };
import { Failure } from '../../contract/failure.ts';
import { type ModelConfig, readModelConfig } from '../../models/model-config.ts';
import { readTensors, type StoredTensor, verifyTensors } from '../../models/safetensors.ts';
import { shardNames, weightsIndex } from '../../run-directory/model-digest.ts';
import { wholeWeights } from '../../run-directory/names.ts';
import type { Graph } from './graph.ts';
import { type DataType, writeModel } from './message.ts';
import { qwen2Graph } from './qwen2.ts';

const dataTypes: Record<StoredTensor['type'], DataType> = {
  F32: 'float32',
  F16: 'float16',
  BF16: 'bfloat16',
};

interface ExportedModel {
  config: ModelConfig;
  /** The model file. It references the weights in the folder's safetensors files by name and offset. */
  model: Uint8Array;
}

/**
 * Converts a model folder or checkpoint to an ONNX model without copying weights. The graph converts 16-bit weights to fp32, which is exact. Throws
 * `model_file_missing`, `model_file_invalid`, `model_index_invalid`, `model_config_invalid`, `model_unsupported`, `model_tensor_missing` or
 * `model_tensor_shape`.
 */
export async function exportOnnx(folder: string): Promise<ExportedModel> {
  const config = await readModelConfig(folder);
  const tensors = await tensorsOf(folder);
  const weightOf = (graph: Graph, name: string, shape: readonly number[]) => {
    const tensor = tensors.get(name);
    if (!tensor) throw mismatch('model_tensor_missing', folder, `${name} is missing`);
    if (String(tensor.shape) !== String(shape))
      throw mismatch('model_tensor_shape', folder, `${name} is [${tensor.shape}] instead of [${shape}]`);
    const { file, type, offset, length } = tensor;
    graph.initializers.push({ name, type: dataTypes[type], shape, data: { file, offset, length } });
    return type === 'F32' ? name : graph.node('Cast', [name], { to: 1 });
  };
  const graph = qwen2Graph(config, weightOf);
  return { config, model: writeModel(graph, { name: product.productName, version: product.version }) };
}

async function tensorsOf(folder: string): Promise<Map<string, StoredTensor & { file: string }>> {
  const has = (name: string) => existsSync(join(folder, name));
  if (!has(wholeWeights) && !has(weightsIndex))
    throw mismatch('model_file_missing', folder, `${wholeWeights} and ${weightsIndex} are missing`);
  const files = has(wholeWeights) ? [wholeWeights] : await shardNames(folder);
  const tensors = new Map<string, StoredTensor & { file: string }>();
  for (const file of files)
    for (const [name, tensor] of await readVerified(join(folder, file))) tensors.set(name, { ...tensor, file });
  return tensors;
}

async function readVerified(path: string): Promise<Map<string, StoredTensor>> {
  const tensors = await readTensors(path);
  await verifyTensors(path, tensors);
  return tensors;
}

function mismatch(code: string, folder: string, reason: string): Failure {
  return new Failure(
    code,
    `The weights in ${folder} do not match its config.json: ${reason}.`,
    'Choose another checkpoint, or download the model folder again.',
  );
}
