import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { mustRun, root } from './process.mjs';

const name = 'starpo-studio';
const title = 'StarPO Studio';

/** Debian 12 packages with the shared libraries that Electron loads. */
const depends = [
  'libgtk-3-0',
  'libnotify4',
  'libnss3',
  'libxss1',
  'libxtst6',
  'xdg-utils',
  'libatspi2.0-0',
  'libuuid1',
  'libsecret-1-0',
  'libasound2',
  'libgbm1',
];

/** @param {{ version: string, description: string }} product */
const control = ({ version, description }) => `Package: ${name}
Version: ${version}
Section: science
Priority: optional
Architecture: amd64
Maintainer: The StarPO Studio contributors <starpo-studio@localhost>
Depends: ${depends.join(', ')}
Description: ${title}
 ${description}
`;

const desktopEntry = `[Desktop Entry]
Type=Application
Name=${title}
Comment=Train LLM agents by multi-turn reinforcement learning
Exec=/opt/${name}/${name} %U
Icon=${name}
Terminal=false
Categories=Science;
MimeType=x-scheme-handler/starpo;
StartupWMClass=${title}
`;

/** Debian's folders for shell completions. */
const completions = {
  bash: 'usr/share/bash-completion/completions/starpo',
  zsh: 'usr/share/zsh/vendor-completions/_starpo',
  fish: 'usr/share/fish/vendor_completions.d/starpo.fish',
};

/**
 * Builds a Debian package with dpkg-deb from the output of `electron-builder --linux dir`. Returns its path.
 * @param {string} unpacked @param {string} output the output folder @param {'xz' | 'none'} [compression] @returns {Promise<string>}
 */
export async function makeDeb(unpacked, output, compression = 'xz') {
  const product = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const tree = join(output, 'deb');
  rmSync(tree, { recursive: true, force: true });
  const place = (/** @type {string} */ folder) => {
    mkdirSync(join(tree, folder), { recursive: true });
    return join(tree, folder);
  };
  cpSync(unpacked, place(`opt/${name}`), { recursive: true });
  symlinkSync(`/opt/${name}/${name}`, join(place('usr/bin'), name));
  symlinkSync(`/opt/${name}/resources/bin/starpo`, join(place('usr/bin'), 'starpo'));
  writeFileSync(join(place('usr/share/applications'), `${name}.desktop`), desktopEntry);
  for (const [shell, file] of Object.entries(completions)) {
    const script = await mustRun(join(unpacked, 'resources/bin/starpo'), ['completion', shell]);
    writeFileSync(join(place(dirname(file)), basename(file)), script);
  }
  cpSync(join(root, 'LICENSE'), join(place(`usr/share/doc/${name}`), 'copyright'));
  const icons = join(root, 'resources/icons');
  for (const file of readdirSync(icons)) {
    const size = file.replace('.png', '');
    cpSync(join(icons, file), join(place(`usr/share/icons/hicolor/${size}/apps`), `${name}.png`));
  }
  writeFileSync(join(place('DEBIAN'), 'control'), control(product));
  const file = join(output, `${name}_${product.version}_amd64.deb`);
  const args = ['--root-owner-group', `-Z${compression}`, '--build', tree, file];
  await mustRun('dpkg-deb', args, { hint: 'This needs dpkg-deb, which is part of Debian.' }).finally(() =>
    rmSync(tree, { recursive: true, force: true }),
  );
  return file;
}
