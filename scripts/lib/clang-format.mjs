import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { nativeFiles } from './process.mjs';

const folders = ['src', 'tests', 'fuzz', 'bench'];

/**
 * Formats the trainer's C++ and CUDA by `.clang-format`, with a pinned clang-format so that every machine agrees.
 * @param {string} root the checkout
 * @param {{ write?: boolean }} [options] write: fix the files instead of only reporting them
 * @returns {Promise<string[]>} one line for each file that was not formatted
 */
export async function formatNative(root, { write = false } = {}) {
  // Imported lazily: the scripts that install the packages import this file too.
  const { format } = await import('@wasm-fmt/clang-format');
  const style = readFileSync(join(root, '.clang-format'), 'utf8');
  const wrong = [];
  for (const folder of folders) {
    for (const name of nativeFiles(join(root, 'native', folder))) {
      const path = join(root, 'native', folder, name);
      const text = readFileSync(path, 'utf8');
      // CUDA is formatted as C++: clang-format picks the language by the name's ending.
      const formatted = format(text, name.replace(/\.cuh?$/, '.cpp'), style);
      if (formatted === text) continue;
      if (write) writeFileSync(path, formatted);
      wrong.push(`native/${folder}/${name} is not formatted: run \`npm run format\`.`);
    }
  }
  return wrong;
}
