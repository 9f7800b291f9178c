import { join } from 'node:path';
import { cacheFolder, debianRoot, inRoot, machineMirror } from '../scripts/lib/debian-releases.mjs';
import { fail } from '../scripts/lib/process.mjs';

/** Debian unstable has current versions of PyTorch and transformers. */
const release = 'sid';
const packages = ['python3-torch', 'python3-transformers', 'python3-safetensors', 'libopenblas0-openmp'];

/** Creates their Debian system if necessary. Exits with a hint on failure. */
export async function preparePeers({
  mirror,
  fresh,
}: {
  mirror?: string | undefined;
  fresh?: boolean | undefined;
}): Promise<void> {
  try {
    await debianRoot({ release, packages, mirror: mirror ?? machineMirror(), fresh: fresh ?? false });
  } catch (error) {
    fail(error);
  }
}

/** Returns a command that runs there, for execFileSync and spawnSync. It sees only the shared folders of this machine. */
export function inPeers(shared: string[], command: string[]): [program: string, args: string[]] {
  const [program, ...args] = inRoot(join(cacheFolder, `debian-${release}`), shared, command);
  return [program as string, args];
}
