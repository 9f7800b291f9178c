// Builds the native tests with AddressSanitizer and UBSan and runs them: the emulated CUDA kernels, whose every access is then checked, among them.
// Usage: npm run nightly:sanitize -- [--only '*kernels*']
//   --only: doctest's pattern of test cases
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { fail, root, run, SetupError } from './lib/process.mjs';

const build = join(root, 'native/build-sanitize');

/** @param {string} program @param {string[]} args @param {string} hint */
async function mustRun(program, args, hint) {
  const { status } = await run(program, args, { show: true });
  if (status !== 0) throw new SetupError(`${program} failed.`, hint);
}

try {
  const { values } = parseArgs({ options: { only: { type: 'string' } } });
  const options = ['-DCMAKE_BUILD_TYPE=Release', '-DSTARPO_SANITIZE=ON'];
  const hint = 'See its messages above.';
  await mustRun('cmake', ['-S', join(root, 'native'), '-B', build, '-G', 'Ninja', ...options], hint);
  await mustRun('ninja', ['-C', build, `-j${availableParallelism()}`, 'starpo-tests'], hint);
  await mustRun(
    join(build, 'starpo-tests'),
    values.only ? [`-tc=${values.only}`] : [],
    'The sanitizer names the file and line at fault above.',
  );
} catch (error) {
  fail(error);
}
