import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The floors of native/src, from the ground up: a folder includes its own files and those of floors below it. */
const layers = [
  'base',
  'files',
  'fields',
  'journal',
  'tokenizer',
  'model',
  'env',
  'algorithm',
  'engine',
  'rollout',
  'config',
  'train',
  'cli',
];

/** Rooms of train/, from the ground up. */
const trainRooms = [
  'metrics',
  'replica',
  'context',
  'update',
  'checkpoint',
  'diagnostics',
  'evaluation',
  'warm_start',
  'run',
];

/** Engines side by side behind one seam: a file of `engine/` itself, of one of them, or of the factory that knows them all. */
const factory = 'engine/engine.cpp';

/** Headers that CMake writes, and so of no floor. */
const generated = ['build_version.h', 'run_options.h'];

/**
 * What is about the engines themselves and so goes past the seam: the commands that say which devices there are and whether their operations are right, and the
 * self-test that holds a kernel against the processor's own.
 * @type {Record<string, string[]>}
 */
export const exceptions = {
  'cli/devices.cpp': [
    'engine/cpu/kernels/isa.h',
    'engine/cuda/runtime/devices.h',
    'engine/cuda/runtime/unavailable.h',
  ],
  'cli/self_test.cpp': [
    'engine/cpu/self_test.h',
    'engine/cuda/choose_gpu.h',
    'engine/cuda/selftest/self_test.h',
  ],
  'engine/cuda/selftest/check_sampler.cpp': ['engine/cpu/sampler.h'],
};

/**
 * What is wrong with one include; nothing where it is right. Pure. Paths are those below native/src.
 * @param {string} file @param {string} included
 */
export function misplaced(file, included) {
  const [floor = '', room = ''] = file.split('/');
  const [below = '', engine = '', ...deeper] = included.split('/');
  if (!file.includes('/') || generated.includes(included)) return undefined;
  if (!layers.includes(floor)) return `${floor}/ is no floor: name it in scripts/lib/native-layers.mjs`;
  if (!layers.includes(below)) return `"${included}" is on no floor: include files as "folder/file.h"`;
  if (layers.indexOf(below) > layers.indexOf(floor)) return `${floor}/ stands below ${below}/`;
  if (floor === 'train' && below === 'train' && trainRooms.indexOf(engine) > trainRooms.indexOf(room))
    return `train/${room}/ stands below train/${engine}/`;
  const intoEngine = below === 'engine' && deeper.length > 0;
  if (!intoEngine || file === factory) return undefined;
  if (floor !== 'engine') return `engine/${engine}/ is reached through the seam, the files of engine/ itself`;
  const own = file.split('/').length > 2 ? room : '';
  if (own === '') return `${factory} alone knows which engines there are`;
  return own === engine ? undefined : `engine/${own}/ and engine/${engine}/ stand side by side`;
}

/**
 * Every include that runs upwards or past the seam, and every exception that no file needs any more.
 * @param {string} source native/src
 * @param {Record<string, string[]>} allowed
 * @returns {string[]} a line for each
 */
export function checkLayers(source, allowed = exceptions) {
  const wrong = [];
  const used = new Set();
  const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((name) =>
    /\.(h|cpp|cuh|cu)$/.test(name),
  );
  for (const file of files.sort()) {
    for (const [, included = ''] of readFileSync(join(source, file), 'utf8').matchAll(/^#include "(.+)"/gm)) {
      const reason = misplaced(file, included);
      if (!reason) continue;
      if (allowed[file]?.includes(included)) used.add(`${file} ${included}`);
      else wrong.push(`native/src/${file} includes "${included}": ${reason}.`);
    }
  }
  for (const [file, includes] of Object.entries(allowed))
    for (const included of includes.filter((name) => !used.has(`${file} ${name}`)))
      wrong.push(
        `scripts/lib/native-layers.mjs allows ${file} "${included}", which it doesn't include: take it out.`,
      );
  return wrong;
}
