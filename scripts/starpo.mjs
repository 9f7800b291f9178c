import { join } from 'node:path';
import { become, fail, pinnedNode, root } from './lib/process.mjs';

try {
  // npm changes to the project's folder, but paths are relative to the user's working directory.
  const cwd = process.env.INIT_CWD ?? process.cwd();
  become(pinnedNode(), [join(root, 'core/host/cli.ts'), ...process.argv.slice(2)], { cwd });
} catch (error) {
  fail(error);
}
