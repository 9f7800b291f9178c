import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { makeDeb } from './lib/deb.mjs';
import { fail, pinnedNode, root, run, SetupError } from './lib/process.mjs';

/** Builds the app, packages it for Linux and writes a .deb to dist/. */
try {
  const steps = [
    ['node_modules/electron-vite/bin/electron-vite.js', 'build'],
    ['node_modules/electron-builder/cli.js', '--linux', 'dir'],
  ];
  for (const args of steps) {
    const { status, output } = await run(pinnedNode(), args, { show: true });
    if (status !== 0)
      throw new SetupError('The app could not be packaged.', 'See the messages above.', output);
  }
  const unpacked = join(root, 'dist/linux-unpacked');
  if (!existsSync(join(unpacked, 'resources/bin/starpo-trainer')))
    throw new SetupError('The trainer is not built.', 'Run `npm run setup`.');
  console.log(await makeDeb(unpacked, join(root, 'dist')));
} catch (error) {
  fail(error);
}
