import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pinnedNode, root, run } from './process.mjs';

/**
 * In which front the app opens. Electron's sandbox refuses the superuser, so that root gets the browser.
 * @param {{ platform: string, environment: NodeJS.ProcessEnv, superuser: boolean }} machine
 * @returns {'electron' | 'browser'}
 */
export function chooseFront({ platform, environment, superuser }) {
  const display = platform !== 'linux' || Boolean(environment.DISPLAY || environment.WAYLAND_DISPLAY);
  return display && !superuser ? 'electron' : 'browser';
}

/** Electron's executable, fetched at its first use; undefined where it can't be had. */
export async function electronExecutable() {
  const found = installedElectron();
  if (found) return found;
  console.log('fetching Electron (about 110 MB, only once) ...');
  const limit = 180_000;
  const result = await run(pinnedNode(), ['node_modules/electron/install.js'], { timeout: limit });
  return result.status === 0 ? installedElectron() : undefined;
}

/** Electron's executable where it is on this machine already. @returns {string | undefined} */
export function installedElectron() {
  if (process.env.ELECTRON_EXEC_PATH) return process.env.ELECTRON_EXEC_PATH;
  const marker = join(root, 'node_modules/electron/path.txt');
  if (!existsSync(marker)) return undefined;
  const file = join(root, 'node_modules/electron/dist', readFileSync(marker, 'utf8').trim());
  return existsSync(file) ? file : undefined;
}
