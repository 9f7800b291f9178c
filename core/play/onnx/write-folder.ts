import { constants } from 'node:fs';
import { copyFile, mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../../contract/failure.ts';
import { exportOnnx } from './export.ts';

/** What a runtime needs beside the graph: the weights that it refers to, and what turns texts to ids and back. */
const carried =
  /^(config|generation_config|tokenizer|tokenizer_config|special_tokens_map|added_tokens|vocab)\.json$|^merges\.txt$|^chat_template\.jinja$|^model(-\d+-of-\d+)?\.safetensors$/;

/**
 * Writes a checkpoint as a folder that any ONNX runtime opens: `model.onnx`, whose weights are the copied safetensors files beside it. Throws as {@link exportOnnx} does, or
 * `export_exists` where the folder has a model.onnx.
 */
export async function writeOnnxFolder(checkpoint: string, folder: string): Promise<void> {
  const { model } = await exportOnnx(checkpoint);
  await mkdir(folder, { recursive: true });
  const names = (await readdir(checkpoint)).filter((name) => carried.test(name));
  try {
    await writeFile(join(folder, 'model.onnx'), model, { flag: 'wx' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    throw new Failure(
      'export_exists',
      `${folder} has a model.onnx already.`,
      'Choose another folder, or delete what is in it.',
    );
  }
  for (const name of names)
    await copyFile(join(checkpoint, name), join(folder, name), constants.COPYFILE_FICLONE);
}
