import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Arch, build, Platform } from 'electron-builder';
import product from '../../package.json' with { type: 'json' };
import { root } from '../../scripts/lib/process.mjs';

/** The marker of @electron/fuses in a binary, followed by a version, the number of fuses and their states. */
const sentinel = 'dL7pKGdnNz796PbbjQWNKmHXBZaB9tsX';
/** Fuses in order (@electron/fuses); Electron may have more. */
const fuseNames = [
  'runAsNode',
  'enableCookieEncryption',
  'enableNodeOptionsEnvironmentVariable',
  'enableNodeCliInspectArguments',
  'enableEmbeddedAsarIntegrityValidation',
  'onlyLoadAppFromAsar',
  'loadBrowserProcessSpecificV8Snapshot',
  'grantFileProtocolExtraPrivileges',
];

/** Creates a folder with the parts of Electron's distribution that electron-builder needs: a dummy binary with inverted fuses, and the files
 * that are renamed or kept. The real distribution isn't available everywhere.
 */
export function makeStubElectron(folder: string): string {
  mkdirSync(join(folder, 'locales'), { recursive: true });
  mkdirSync(join(folder, 'resources'));
  const configured = configuredFuses();
  const states = fuseNames.map((name) => (configured[name] ? 0x30 : 0x31));
  const wire = Buffer.from([1, states.length, ...states]);
  const head = Buffer.from(`#!/bin/sh\nexit 0\n#${sentinel}`);
  writeFileSync(join(folder, 'electron'), Buffer.concat([head, wire, Buffer.from('\n')]));
  chmodSync(join(folder, 'electron'), 0o755);
  for (const file of ['LICENSE', 'LICENSES.chromium.html', 'version', 'locales/en-US.pak', 'locales/de.pak'])
    writeFileSync(join(folder, file), product.devDependencies.electron);
  return folder;
}

/** Returns the fuses in electron-builder.yml. */
export function configuredFuses(): Record<string, boolean> {
  const text = readFileSync(join(root, 'electron-builder.yml'), 'utf8');
  const [, block = ''] = /^electronFuses:\n((?: {2}.+\n)+)/m.exec(text) ?? [];
  const lines = [...block.matchAll(/^ {2}(\w+): (true|false)$/gm)];
  return Object.fromEntries(lines.map(([, name, value]) => [name, value === 'true']));
}

/** Returns the fuses set in a binary. */
export function fusesOf(binary: string): Record<string, boolean> {
  const bytes = readFileSync(binary);
  const at = bytes.indexOf(sentinel) + sentinel.length + 2;
  return Object.fromEntries(fuseNames.map((name, index) => [name, bytes[at + index] === 0x31]));
}

const built = join(root, 'native/build/starpo-trainer');

/** Packages the built app like `electron-builder --linux dir`. Returns the folder. */
export async function packageApp(
  output: string,
  { electronDist, trainer }: { electronDist: string; trainer: string },
): Promise<string> {
  await build({
    projectDir: root,
    targets: Platform.LINUX.createTarget('dir', Arch.x64),
    publish: 'never',
    // Overrides of electron-builder.yml.
    config: {
      electronDist,
      electronVersion: product.devDependencies.electron,
      directories: { output },
      // If built in the default place, electron-builder.yml has the path.
      ...(trainer !== built && { extraResources: [{ from: trainer, to: 'bin/starpo-trainer' }] }),
    },
  });
  return join(output, 'linux-unpacked');
}
