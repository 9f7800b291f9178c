import { join } from 'node:path';
import { become, fail, pinnedNode, root } from './lib/process.mjs';

try {
  // npm moves to the project's folder; paths on the command line are meant from where the person is.
  const cwd = process.env.INIT_CWD ?? process.cwd();
  become(pinnedNode(), [join(root, 'core/host/cli.ts'), ...process.argv.slice(2)], { cwd });
} catch (error) {
  fail(error);
}
