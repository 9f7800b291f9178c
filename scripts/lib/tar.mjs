import { cpSync, globSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, matchesGlob } from 'node:path';
import { parse } from 'yaml';
import { mustRun, root, SetupError } from './process.mjs';

/** glibc of RHEL 9 and Ubuntu 22.04, which many clusters run. */
const newestGlibc = '2.34';

const product = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

/**
 * Returns the files of the command line and the page, relative to the checkout: those of the packaged app that run outside Electron.
 * @returns {string[]}
 */
export function appFiles() {
  /** @type {{ files: string[], asarUnpack: string[] }} */
  const { files, asarUnpack } = parse(readFileSync(join(root, 'electron-builder.yml'), 'utf8'));
  const excluded = files.filter((pattern) => pattern.startsWith('!')).map((pattern) => pattern.slice(1));
  return globSync(asarUnpack, { cwd: root })
    .filter((path) => !excluded.some((pattern) => matchesGlob(path, pattern)) && statSync(join(root, path)).isFile())
    .sort();
}

/**
 * Writes the content of the archive to a new folder.
 * @param {string} folder @param {string} trainer
 */
export function assemble(folder, trainer) {
  /** @type {{ extraResources: { from: string, to: string }[] }} */
  const { extraResources } = parse(readFileSync(join(root, 'electron-builder.yml'), 'utf8'));
  for (const { from, to } of extraResources) {
    const source = to === 'bin/starpo-trainer' ? trainer : join(root, from);
    cpSync(source, join(folder, to), { recursive: true });
  }
  for (const path of appFiles()) {
    const target = join(folder, 'app', path);
    mkdirSync(dirname(target), { recursive: true });
    cpSync(join(root, path), target);
  }
  cpSync(join(root, 'LICENSE'), join(folder, 'LICENSE'));
}

/**
 * Returns the newest version of glibc that an output of `readelf --version-info` requires; undefined if it requires none.
 * @param {string} versionInfo @returns {string | undefined}
 */
export function requiredGlibc(versionInfo) {
  const versions = [...versionInfo.matchAll(/\bGLIBC_(\d+\.\d+)/g)].map(
    ([, version]) => /** @type {string} */ (version),
  );
  return versions.sort((a, b) => Number(a.slice(2)) - Number(b.slice(2))).at(-1);
}

/** Returns the newest glibc that programs and libraries in a folder require. Throws if it is too new. @param {string} folder */
async function checkGlibc(folder) {
  let newest = '2.0';
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()) {
    const path = join(folder, name);
    if (!statSync(path).isFile() || !isElf(path)) continue;
    const required = requiredGlibc(await mustRun('readelf', ['-W', '--version-info', path])) ?? newest;
    if (Number(required.slice(2)) > Number(newestGlibc.slice(2)))
      throw new SetupError(
        `${name} requires glibc ${required}, but the package must run with ${newestGlibc}.`,
        'Build it on an older system, such as Debian 12.',
      );
    if (Number(required.slice(2)) > Number(newest.slice(2))) newest = required;
  }
  return newest;
}

/** @param {string} path */
const isElf = (path) => readFileSync(path).subarray(0, 4).toString('latin1') === '\x7fELF';

/**
 * Writes a .tar.gz with the trainer, the command line and their Node to a folder. Its content needs neither root access nor other packages. Returns
 * its path and requirements.
 * @param {{ trainer: string, output: string }} options
 */
export async function makeTar({ trainer, output }) {
  const { cuda } = JSON.parse(await mustRun(trainer, ['devices', '--json']));
  const [major] = cuda.runtime_version?.split('.') ?? [];
  const name = `starpo-studio-${product.version}`;
  const scratch = mkdtempSync(join(tmpdir(), 'starpo-tar-'));
  try {
    assemble(join(scratch, name), trainer);
    const glibc = await checkGlibc(join(scratch, name));
    mkdirSync(output, { recursive: true });
    const file = join(output, `${name}-linux-x64-${major ? `cuda${major}` : 'cpu'}.tar.gz`);
    const owner = ['--owner=0', '--group=0', '--numeric-owner', '--sort=name'];
    await mustRun('tar', ['-C', scratch, ...owner, '-czf', file, name]);
    return {
      file,
      megabytes: Math.round(statSync(file).size / 1e6),
      glibc,
      driver: major ? (Number(major) >= 13 ? 580 : 525) : null,
    };
  } finally {
    rmSync(scratch, { recursive: true });
  }
}

/**
 * Unpacks an archive in an empty folder and trains two iterations with it, in an environment without Node, a checkout or a data folder. Returns
 * the outputs.
 * @param {string} file
 */
export async function tryTar(file) {
  const folder = mkdtempSync(join(tmpdir(), 'starpo-unpacked-'));
  try {
    await mustRun('tar', ['-C', folder, '-xzf', file]);
    const [name] = /** @type {[string]} */ (readdirSync(folder));
    const env = { HOME: join(folder, 'home'), PATH: '/usr/bin:/bin' };
    mkdirSync(env.HOME);
    /** @param {string} program @param {string[]} args */
    const inside = (program, ...args) => mustRun(join(folder, name, 'bin', program), args, { cwd: env.HOME, env });
    const version = (await inside('starpo', '--version')).trim();
    const devices = JSON.parse(await inside('starpo-trainer', 'devices', '--json'));
    const small = ['iterations=2', 'rollout.groups=2', 'device=cpu'].flatMap((setting) => ['--set', setting]);
    const trained = await inside('starpo', 'train', 'starter-bandit', ...small);
    const [run] = globSync(join(env.HOME, '.local/share/starpo-studio/runs/*/events.jsonl'));
    const last = JSON.parse(
      /** @type {string} */ (
        readFileSync(run ?? '', 'utf8')
          .trimEnd()
          .split('\n')
          .at(-1)
      ),
    );
    if (version !== product.version || last.reason !== 'completed' || last.iteration !== 2)
      throw new SetupError('The unpacked package does not train.', 'See its output above.', trained);
    return { version, build: devices.build, iterations: last.iteration };
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
  }
}
