// Takes the screenshots in docs/screenshots: every page in both themes, with the fake trainer and the sample run.
// Needs Chromium (CHROMIUM_PATH, else /usr/bin/chromium-headless-shell).
import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fail, mustRun, pinnedNode, root } from './lib/process.mjs';

const folder = join(root, 'docs/screenshots');

try {
  await mustRun(pinnedNode(), ['node_modules/electron-vite/bin/electron-vite.js', 'build']);
  rmSync(folder, { recursive: true, force: true });
  const args = ['tests/renderer/screens/take.ts', folder, '--documented'];
  await mustRun(pinnedNode(), args, { show: true });
  const sizes = readdirSync(folder).map((name) => statSync(join(folder, name)).size);
  const total = sizes.reduce((sum, size) => sum + size, 0);
  console.log(`${sizes.length} screenshots in docs/screenshots, ${(total / 1e6).toFixed(1)} MB`);
} catch (error) {
  fail(error);
}
