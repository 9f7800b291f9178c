import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { makeDeb } from './lib/deb.mjs';
import { fail, mustRun, pinnedNode, root, SetupError } from './lib/process.mjs';

/** Builds the app, packages it for Linux and writes a .deb to dist/. */
try {
  await mustRun(pinnedNode(), ['node_modules/electron-vite/bin/electron-vite.js', 'build'], { show: true });
  await mustRun(pinnedNode(), ['node_modules/electron-builder/cli.js', '--linux', 'dir'], { show: true });
  const unpacked = join(root, 'dist/linux-unpacked');
  if (!existsSync(join(unpacked, 'resources/bin/starpo-trainer')))
    throw new SetupError('The trainer is not built.', 'Run `npm run setup`.');
  console.log(await makeDeb(unpacked, join(root, 'dist')));
} catch (error) {
  fail(error);
}
