import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { promisify } from 'node:util';

/** Opens an address in the program that the desktop chose for it. Returns false without a desktop. */
export async function openPage(address: string): Promise<boolean> {
  const mac = process.platform === 'darwin';
  if (!mac && !process.env.DISPLAY && !process.env.WAYLAND_DISPLAY) return false;
  const opening = spawn(mac ? 'open' : 'xdg-open', [address], { stdio: 'ignore', detached: true });
  opening.unref();
  return once(opening, 'spawn').then(
    () => true,
    () => false,
  );
}

/** Returns whether an installed app opens `starpo://` links. */
export async function hasLinkHandler(): Promise<boolean> {
  try {
    const { stdout } = await promisify(execFile)('xdg-mime', ['query', 'default', 'x-scheme-handler/starpo']);
    return stdout.trim() !== '';
  } catch {
    return false;
  }
}
