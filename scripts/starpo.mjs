#!/usr/bin/env node
import { join } from 'node:path';
import { pastedCommand } from './lib/link.mjs';
import { become, fail, pinnedNode, root } from './lib/process.mjs';

try {
  // `npm run starpo` changes to the project's folder, but paths are relative to the user's working directory.
  const cwd = (process.env.npm_lifecycle_event === 'starpo' && process.env.INIT_CWD) || process.cwd();
  const env = { ...process.env, STARPO_COMMAND: pastedCommand(cwd) };
  become(pinnedNode(), [join(root, 'core/host/cli.ts'), ...process.argv.slice(2)], { cwd, env });
} catch (error) {
  fail(error);
}
