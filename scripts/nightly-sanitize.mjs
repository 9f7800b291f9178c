// Builds and runs the native tests, including the emulated CUDA kernels, with AddressSanitizer and UBSan.
// Usage: npm run nightly:sanitize -- [--thread] [--only '*kernels*']
//   --thread: uses ThreadSanitizer instead, without the emulated kernels, whose fibers it doesn't support
//   --only: doctest pattern of test cases
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { fail, mustRun, root, SetupError } from './lib/process.mjs';
import { doctestResults } from './lib/test-results.mjs';

try {
  const { values } = parseArgs({
    options: { only: { type: 'string' }, thread: { type: 'boolean', default: false } },
  });
  const build = join(root, values.thread ? 'native/build-sanitize-thread' : 'native/build-sanitize');
  const sanitizer = values.thread ? 'THREAD' : 'ON';
  const options = ['-DCMAKE_BUILD_TYPE=Release', '-DSTARPO_UNITY=ON', `-DSTARPO_SANITIZE=${sanitizer}`];
  await mustRun('cmake', ['-S', join(root, 'native'), '-B', build, '-G', 'Ninja', ...options], {
    show: true,
  });
  await mustRun('ninja', ['-C', build, `-j${availableParallelism()}`, 'starpo-tests'], { show: true });
  const output = await mustRun(
    join(build, 'starpo-tests'),
    [
      ...(values.only ? [`-tc=${values.only}`] : []),
      ...(values.thread
        ? ['-sfe=*cuda_*,*goldens_*', '-tce=gradients of every policy loss*,starpo-bench kernels*']
        : []),
    ],
    { show: true, hint: 'The sanitizer names the file and line at fault above.' },
  );
  if (doctestResults(output, 0).passed === 0) throw new SetupError('No test ran.', 'Check the pattern of --only.');
} catch (error) {
  fail(error);
}
