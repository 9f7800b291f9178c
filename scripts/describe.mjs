/**
 * Generates core's lists and types, the example run.json and the documentation tables from `starpo-trainer schema`.
 * With --check it writes no file and exits with status 1 if a file is out of date.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { descriptionFiles } from './lib/description-files.mjs';

const root = resolve(import.meta.dirname, '..');
const trainer = process.env.STARPO_TRAINER ?? join(root, 'native/build/starpo-trainer');
const read = (path) => readFileSync(join(root, path), 'utf8');
const schema = JSON.parse(execFileSync(trainer, ['schema'], { encoding: 'utf8', maxBuffer: 16 << 20 }));

const stale = Object.entries(descriptionFiles(schema, read)).filter(([path, text]) => {
  try {
    return read(path) !== text;
  } catch {
    return true;
  }
});
if (process.argv.includes('--check')) {
  for (const [path] of stale) console.error(`${path} is out of date: run \`npm run describe\``);
  process.exitCode = stale.length > 0 ? 1 : 0;
} else {
  for (const [path, text] of stale) {
    writeFileSync(join(root, path), text);
    console.log(`wrote ${path}`);
  }
}
