// Downloads packages of another Debian release, to unpack them or to create a whole system in a folder.
// Everything is in the user's cache; the machine itself doesn't change.
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { installPackages, missingPackages } from './debian-packages.mjs';
import { mustRun as mustRunAs, run, SetupError } from './process.mjs';

export const cacheFolder = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'starpo-studio');

/**
 * Returns the mirror of a release's main component in apt's sources, or undefined.
 * @param {string[]} sources contents of apt's source lists, in either format
 * @param {string} release code name
 */
export function mirrorOf(sources, release) {
  for (const source of sources) {
    const lines = source.split('\n').filter((line) => !line.startsWith('#'));
    for (const stanza of lines.join('\n').split(/\n\s*\n/)) {
      const field = (/** @type {string} */ name) =>
        new RegExp(`^${name}:(.*(?:\n[ \t].*)*)`, 'm').exec(stanza)?.[1]?.trim().split(/\s+/) ?? [];
      if (field('Suites').includes(release) && field('Components').includes('main')) return field('URIs')[0];
    }
    for (const line of lines) {
      const [, mirror, suite, components] = /^deb\s+(?:\[[^\]]*\]\s+)?(\S+)\s+(\S+)\s+(.*)$/.exec(line) ?? [];
      if (suite === release && components?.split(/\s+/).includes('main')) return mirror;
    }
  }
  return undefined;
}

/** Returns the mirror that this machine's apt uses. @returns {string} */
export function machineMirror() {
  const read = (/** @type {string} */ file) => (existsSync(file) ? readFileSync(file, 'utf8') : '');
  const parts = '/etc/apt/sources.list.d';
  const files = existsSync(parts) ? readdirSync(parts).map((name) => join(parts, name)) : [];
  const release = /^VERSION_CODENAME=(.*)$/m.exec(read('/etc/os-release'))?.[1] ?? '';
  const isDebian = /^ID=debian$/m.test(read('/etc/os-release'));
  const mirror = mirrorOf(['/etc/apt/sources.list', ...files].map(read), release);
  if (isDebian && mirror) return mirror;
  throw new SetupError("This machine's apt sources contain no Debian mirror.", 'Specify one with --mirror URL.');
}

/** @param {string} program @param {string[]} args @param {{ cwd?: string }} [options] */
const mustRun = (program, args, options = {}) =>
  mustRunAs(program, args, { ...options, env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' } });

/**
 * Downloads packages of a release without installing them. apt verifies signatures and checksums; existing files are reused.
 * @param {{ release: string, components: string[], packages: string[], mirror: string }} options
 * @returns {Promise<string[]>} the files, in the order of the packages
 */
export async function downloadPackages({ release, components, packages, mirror }) {
  const folder = join(cacheFolder, `packages-${release}`);
  for (const part of ['lists/partial', 'cache/archives/partial']) mkdirSync(join(folder, part), { recursive: true });
  const source = `deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] ${mirror} ${release} ${components.join(' ')}\n`;
  writeFileSync(join(folder, 'sources.list'), source);
  // Separate lists and cache keep the release out of the machine's apt.
  const own = Object.entries({
    'Dir::Etc::SourceList': join(folder, 'sources.list'),
    'Dir::Etc::SourceParts': '/dev/null',
    'Dir::State::Lists': join(folder, 'lists'),
    'Dir::Cache': join(folder, 'cache'),
    'APT::Sandbox::User': 'root',
  }).flatMap(([name, value]) => ['-o', `${name}=${value}`]);
  await mustRun('apt-get', [...own, 'update']);
  const files = [];
  for (const name of packages) {
    // 'URI' file bytes sum
    const described = await mustRun('apt-get', [...own, 'download', '--print-uris', name]);
    const [, file = '', bytes] = /^'[^']*' (\S+) (\d+) /m.exec(described) ?? [];
    const path = join(folder, file);
    if (!existsSync(path) || statSync(path).size !== Number(bytes))
      await mustRun('apt-get', [...own, 'download', name], { cwd: folder });
    files.push(path);
  }
  return files;
}

/**
 * Extracts files from a package into a folder, keeping their paths.
 * @param {string} file @param {string} folder @param {string[]} patterns such as `./usr/include/*.h`
 */
export async function extractPackage(file, folder, patterns) {
  mkdirSync(folder, { recursive: true });
  const script = 'file=$1 folder=$2; shift 2; dpkg-deb --fsys-tarfile "$file" | tar -x -C "$folder" --wildcards "$@"';
  await mustRun('sh', ['-c', script, 'sh', file, folder, ...patterns]);
}

/**
 * Creates a system of a release in a folder if it doesn't exist (one minute) and installs missing packages. Needs root.
 * @param {{ release: string, packages: string[], mirror: string, fresh?: boolean }} options fresh: recreate it
 * @returns {Promise<string>} the folder
 */
export async function debianRoot({ release, packages, mirror, fresh = false }) {
  if (process.getuid?.() !== 0)
    throw new SetupError('Only root can create a Debian system in a folder.', 'Run this with sudo.');
  const folder = join(cacheFolder, `debian-${release}`);
  if (fresh) rmSync(folder, { recursive: true, force: true });
  if (!existsSync(folder)) {
    await installPackages(['debootstrap']);
    const part = `${folder}.part`;
    rmSync(part, { recursive: true, force: true });
    mkdirSync(part, { recursive: true });
    await mustRun('debootstrap', ['--variant=minbase', release, part, mirror]);
    renameSync(part, folder);
  }
  // Copy this machine's proxy settings.
  writeFileSync(join(folder, 'etc/apt/apt.conf.d/00-as-outside'), await mustRun('apt-config', ['dump', 'Acquire']));
  cpSync('/etc/resolv.conf', join(folder, 'etc/resolv.conf'));
  const inside = (/** @type {string[]} */ ...command) => {
    const [program, ...args] = inRoot(folder, [], command);
    return run(/** @type {string} */ (program), args);
  };
  const listing = await inside(
    // biome-ignore lint/suspicious/noTemplateCurlyInString: dpkg's own placeholders
    ...['dpkg-query', '-W', '-f=${Package} ${db:Status-Status}\\n', ...packages],
  );
  const missing = missingPackages(packages, listing.output);
  if (missing.length === 0) return folder;
  for (const step of [['update'], ['install', '-y', '--no-install-recommends', ...missing]]) {
    const { status, output } = await inside('apt-get', ...step);
    if (status !== 0)
      throw new SetupError(
        `apt-get ${step[0]} failed in ${folder}.`,
        'Check the network and the mirror, or recreate the system with --fresh.',
        output,
      );
  }
  return folder;
}

/**
 * Returns the command line that runs a command in a root folder, with mounts that only the command sees.
 * @param {string} folder the root
 * @param {string[]} shared folders of the machine, mounted under the same paths
 * @param {string[]} command
 */
export function inRoot(folder, shared, command) {
  const script = `
root=$1; shift
mount --bind /proc "$root/proc" && mount --rbind /dev "$root/dev" || exit 125
while [ "$1" != -- ]; do
  mkdir -p "$root$1" && mount --bind "$1" "$root$1" || exit 125
  shift
done
shift
cd / && exec env -u TMPDIR PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive chroot "$root" "$@"`;
  const mounts = ['unshare', '--mount', '--propagation', 'private'];
  return [...mounts, 'sh', '-c', script, 'sh', folder, ...shared, '--', ...command];
}
