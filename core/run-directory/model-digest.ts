import { createHash } from 'node:crypto';
import { createReadStream, existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { Failure } from '../contract/failure.ts';
import { wholeWeights } from './names.ts';

export const weightsIndex = 'model.safetensors.index.json';

/**
 * Returns the digest of a model folder's weights (docs/formats/model-folder.md).
 * Throws `model_index_invalid` or `model_shard_missing`.
 */
export async function modelDigest(folder: string): Promise<string> {
  if (existsSync(join(folder, wholeWeights))) return sha256OfFile(join(folder, wholeWeights));
  const lines: string[] = [];
  for (const shard of await shardNames(folder)) {
    const path = join(folder, shard);
    if (!existsSync(path)) {
      throw new Failure(
        'model_shard_missing',
        `${path} is missing, but ${weightsIndex} lists it.`,
        'Download the whole model folder again.',
      );
    }
    lines.push(`${await sha256OfFile(path)}  ${shard}\n`);
  }
  return createHash('sha256').update(lines.join('')).digest('hex');
}

/** Returns the files listed in the index, sorted by the bytes of their names. */
export async function shardNames(folder: string): Promise<string[]> {
  const path = join(folder, weightsIndex);
  const names = shardsOf(parsed(await readFile(path, 'utf8')));
  if (names?.every(isInside)) {
    return [...new Set(names)].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  }
  throw new Failure(
    'model_index_invalid',
    `${path} does not map every tensor to a file in the folder.`,
    'Download the file again.',
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function shardsOf(index: unknown): string[] | undefined {
  const map = (index as { weight_map?: unknown } | undefined | null)?.weight_map;
  if (typeof map !== 'object' || map === null || Array.isArray(map)) return undefined;
  const names = Object.values(map);
  return names.every((name) => typeof name === 'string') ? names : undefined;
}

const isInside = (name: string) =>
  name !== '' && !name.endsWith('/') && !isAbsolute(name) && !name.split('/').includes('..');

async function sha256OfFile(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}
