// Tests that a new option needs only the changes in tests/patches/new-option.patch: applies it to a copy of the checkout, builds the
// trainer, runs describe, checks types, and validates a run.json without the option and one that sets it.
// Usage: npm run nightly:new-option
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fail, mustRun, root } from './lib/process.mjs';

const copy = mkdtempSync(join(tmpdir(), 'starpo-option-'));
const build = join(copy, 'native/build');
const definitions = ['-DCMAKE_BUILD_TYPE=Release', '-DSTARPO_UNITY=ON', '-DSTARPO_CUDA=OFF'];

const options = { cwd: copy, show: true };

try {
  await mustRun('git', ['clone', '--quiet', root, '.'], options);
  await mustRun('git', ['apply', join(root, 'tests/patches/new-option.patch')], options);
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  await mustRun('cmake', ['-S', 'native', '-B', build, '-G', 'Ninja', ...definitions], options);
  await mustRun('ninja', ['-C', build, `-j${availableParallelism()}`, 'starpo-trainer'], options);
  await mustRun(process.execPath, ['scripts/describe.mjs'], options);
  await mustRun(process.execPath, ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.node.json', '--noEmit'], options);

  const trainer = join(build, 'starpo-trainer');
  await mustRun(trainer, ['validate', join(root, 'docs/formats/examples/run.json')], options);
  const example = JSON.parse(readFileSync(join(copy, 'docs/formats/examples/run.json'), 'utf8'));
  example.rollout_files.keep_first = 5;
  writeFileSync(join(copy, 'set.json'), JSON.stringify(example));
  await mustRun(trainer, ['validate', 'set.json'], options);
} catch (error) {
  fail(error);
} finally {
  rmSync(copy, { recursive: true, force: true });
}
