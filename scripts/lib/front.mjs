import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pinnedNode, root, run } from './process.mjs';

/**
 * Chooses where the app opens. Electron's sandbox doesn't run as root, so root gets the browser.
 * @param {{ platform: string, environment: NodeJS.ProcessEnv, superuser: boolean }} [machine] default: this one
 * @returns {'electron' | 'browser'}
 */
export function chooseFront({ platform, environment, superuser } = thisMachine()) {
  const display = platform !== 'linux' || Boolean(environment.DISPLAY || environment.WAYLAND_DISPLAY);
  return display && !superuser ? 'electron' : 'browser';
}

const thisMachine = () => ({
  platform: process.platform,
  environment: process.env,
  superuser: process.getuid?.() === 0,
});

/** Returns Electron's executable, downloading it on first use, or undefined if that fails. */
export async function electronExecutable() {
  const found = installedElectron();
  if (found) return found;
  console.log('Downloading Electron (about 110 MB, once) ...');
  const limit = 180_000;
  const result = await run(pinnedNode(), ['node_modules/electron/install.js'], { timeout: limit });
  return result.status === 0 ? installedElectron() : undefined;
}

/** Returns Electron's executable if it is installed. @returns {string | undefined} */
export function installedElectron() {
  if (process.env.ELECTRON_EXEC_PATH) return process.env.ELECTRON_EXEC_PATH;
  const marker = join(root, 'node_modules/electron/path.txt');
  if (!existsSync(marker)) return undefined;
  const file = join(root, 'node_modules/electron/dist', readFileSync(marker, 'utf8').trim());
  return existsSync(file) ? file : undefined;
}
