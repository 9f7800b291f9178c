import { join } from 'node:path';
import { cacheFolder, debianRoot, inRoot, machineMirror } from '../scripts/lib/debian-releases.mjs';
import { fail } from '../scripts/lib/process.mjs';

/** Debian's newest PyTorch and transformers: what is compared with is what people would otherwise use today. */
const release = 'sid';
const packages = ['python3-torch', 'python3-transformers', 'python3-safetensors', 'libopenblas0-openmp'];

/** Makes the Debian that they live in, unless it is there. Ends the program with a hint where that can't be. */
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

/** A command in there, as execFileSync and spawnSync take it; it sees these folders of the machine, and no others. */
export function inPeers(shared: string[], command: string[]): [program: string, args: string[]] {
  const [program, ...args] = inRoot(join(cacheFolder, `debian-${release}`), shared, command);
  return [program as string, args];
}
