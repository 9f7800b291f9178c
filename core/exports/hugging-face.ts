import { readdir, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { RunConfig } from '../run-config/schema.ts';
import { requireCheckpoint } from '../run-directory/checkpoints.ts';
import { linkOrCopy } from '../run-directory/copy-file.ts';
import { checkpointPath } from '../run-directory/names.ts';

/** Model files of a checkpoint (docs/formats/checkpoint.md). */
const modelFiles = new Set([
  'model.safetensors',
  'config.json',
  'generation_config.json',
  'tokenizer.json',
  'tokenizer_config.json',
  'special_tokens_map.json',
  'added_tokens.json',
  'vocab.json',
  'merges.txt',
  'chat_template.jinja',
]);

/**
 * Writes a folder that transformers can load: the checkpoint's model, a model card and run.json. Hard-links weights if possible. Returns the file
 * names. Throws `checkpoint_missing`.
 */
export async function writeHuggingFace(
  folder: string,
  { checkpoint, config, card }: { checkpoint: number; config: RunConfig; card: string },
  target: string,
): Promise<string[]> {
  const from = join(folder, checkpointPath(checkpoint));
  requireCheckpoint(folder, checkpoint);
  const files = (await readdir(from)).filter((name) => modelFiles.has(name));
  for (const name of files) await linkOrCopy(join(from, name), join(target, name));
  await writeFile(join(target, 'README.md'), card);
  await writeFile(join(target, 'run.json'), `${JSON.stringify(withoutFolders(config), null, 2)}\n`);
  return [...files, 'README.md', 'run.json'].sort();
}

/** Shortens local paths to their last part. */
function withoutFolders(config: RunConfig): RunConfig {
  const { start, kl } = config;
  const short = (folder: string) => (folder === '' ? '' : basename(folder));
  return {
    ...config,
    start: { ...start, model: short(start.model) },
    kl: { ...kl, reference: short(kl.reference) },
  };
}
