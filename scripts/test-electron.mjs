import { chooseFront, electronExecutable } from './lib/front.mjs';
import { fail, pinnedNode, run } from './lib/process.mjs';
import { setup } from './lib/setup-steps.mjs';

/** Runs the shell's end-to-end tests in Electron, or prints why they are skipped. */
try {
  await setup({ forTests: true });
  if (chooseFront() !== 'electron') {
    console.log('skipped: Electron needs a display and a user other than root.');
  } else if (!(await electronExecutable())) {
    console.log('skipped: Electron could not be downloaded. Run `node node_modules/electron/install.js` to see why.');
  } else {
    const args = ['node_modules/vitest/vitest.mjs', 'run', '--project=e2e', 'tests/e2e/shell.test.ts'];
    const { status } = await run(pinnedNode(), args, { show: true });
    process.exitCode = status;
  }
} catch (error) {
  fail(error);
}
