import { chooseFront, electronExecutable } from './lib/front.mjs';
import { fail, pinnedNode, run } from './lib/process.mjs';
import { setup } from './lib/setup-steps.mjs';

/** The end-to-end tests of the shell in Electron itself, on a machine that has it, or says why not. */
try {
  await setup({ forTests: true });
  const superuser = process.getuid?.() === 0;
  const front = chooseFront({ platform: process.platform, environment: process.env, superuser });
  if (front !== 'electron') {
    console.log('skipped: Electron needs a display and a user that is not root.');
  } else if (!(await electronExecutable())) {
    console.log('skipped: Electron could not be fetched; `node node_modules/electron/install.js` says why.');
  } else {
    const args = ['node_modules/vitest/vitest.mjs', 'run', '--project=e2e', 'tests/e2e/shell.test.ts'];
    const { status } = await run(pinnedNode(), args, { show: true });
    process.exitCode = status;
  }
} catch (error) {
  fail(error);
}
