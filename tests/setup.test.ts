import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readlinkSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import product from '../package.json' with { type: 'json' };
import { buildPackages, missingPackages, planInstall } from '../scripts/lib/debian-packages.mjs';
import { inRoot, mirrorOf } from '../scripts/lib/debian-releases.mjs';
import { fingerprint, Stamps } from '../scripts/lib/fingerprint.mjs';
import { chooseFront } from '../scripts/lib/front.mjs';
import { launcher, offerLink, pastedCommand } from '../scripts/lib/link.mjs';
import { findProgram, outsidePath, pinnedNode, root, run } from '../scripts/lib/process.mjs';
import { systemPackages } from '../scripts/lib/setup-steps.mjs';
import { appFiles, requiredGlibc } from '../scripts/lib/tar.mjs';
import {
  architecturesFor,
  buildEnvironment,
  buildJobs,
  configureOptions,
  missingArchitectures,
  parseProgress,
} from '../scripts/lib/trainer-build.mjs';

describe('system packages', () => {
  test('only packages that are not installed are missing', () => {
    const listing = 'cmake installed\nninja-build config-files\ng++ installed\n';
    expect(missingPackages(['cmake', 'ninja-build', 'doctest-dev'], listing)).toEqual(['ninja-build', 'doctest-dev']);
  });

  test('does nothing if nothing is missing', () => {
    expect(planInstall({ missing: [], root: false, sudo: false })).toEqual({ action: 'none' });
  });

  test('root installs directly, others with sudo if it needs no password', () => {
    expect(planInstall({ missing: ['cmake'], root: true, sudo: false })).toEqual({
      action: 'install',
      prefix: [],
    });
    expect(planInstall({ missing: ['cmake'], root: false, sudo: true })).toEqual({
      action: 'install',
      prefix: ['sudo', '-n'],
    });
  });

  test('others get the one command to run', () => {
    const plan = planInstall({ missing: ['cmake', 'g++'], root: false, sudo: false });
    expect(plan).toEqual({
      action: 'ask',
      command: 'sudo apt-get update && sudo apt-get install -y --no-install-recommends cmake g++',
    });
  });

  test('Slurm is installed only for tests as root, because only root can start its simulated nodes', () => {
    expect(systemPackages(true, {}, true)).toEqual(expect.arrayContaining(['slurmctld', 'slurmd', 'munge']));
    for (const packages of [systemPackages(true, {}, false), systemPackages(false, {}, true)])
      expect(packages.filter((name) => /slurm|munge/.test(name))).toEqual([]);
  });

  test('a browser is installed only for tests, unless CHROMIUM_PATH is set', () => {
    expect(systemPackages(false, {})).toEqual(buildPackages);
    expect(systemPackages(true, {})).toContain('chromium-headless-shell');
    expect(systemPackages(true, { CHROMIUM_PATH: '/opt/chromium' }, false)).toEqual([...buildPackages, 'python3']);
  });
});

describe('the archive for clusters', () => {
  test('has the packaged files that run outside Electron', () => {
    const files = appFiles();
    expect(files).toContain('node_modules/better-sqlite3/prebuilds/linux-x64.node');
    expect(files).toContain('node_modules/onnxruntime-common/package.json');
    const foreign = /\.map$|main\/main\.cjs$|(darwin|arm64)[^/]*\.node$|better-sqlite3\/(src|deps)/;
    expect(files.filter((path) => foreign.test(path))).toEqual([]);
  });

  test('requires the newest version of glibc that one of its programs uses', () => {
    const output =
      '  0x0010: Name: GLIBC_2.9  Flags: none\n  0x0020: Name: GLIBC_2.34\n  0x0030: Name: GLIBCXX_3.4.30\n';
    expect(requiredGlibc(output)).toBe('2.34');
    expect(requiredGlibc('No version information found in this file.\n')).toBeUndefined();
  });
});

describe('another release of Debian', () => {
  const list =
    '# comment\ndeb http://mirror.example/security bookworm-security main\ndeb [signed-by=/key] http://mirror.example/debian bookworm main contrib\n';
  const stanzas =
    'Types: deb\nURIs: http://mirror.example/security\nSuites: bookworm-security\nComponents: main\n\n# another\nTypes: deb\nURIs: http://mirror.example/debian\nSuites: bookworm\n bookworm-updates\nComponents: main\n';

  test('uses the mirror of the installed release, in either source list format', () => {
    expect(mirrorOf(['', list], 'bookworm')).toBe('http://mirror.example/debian');
    expect(mirrorOf([stanzas], 'bookworm')).toBe('http://mirror.example/debian');
    expect(mirrorOf([list, stanzas], 'trixie')).toBeUndefined();
    expect(mirrorOf(['deb http://mirror.example/other bookworm extra\n'], 'bookworm')).toBeUndefined();
  });

  test('mounts are private to the command, and shared folders keep their paths', () => {
    const [program, ...rest] = inRoot('/cache/root', ['/data'], ['python3', 'a b.py']);
    expect([program, ...rest.slice(0, 3)]).toEqual(['unshare', '--mount', '--propagation', 'private']);
    expect(rest.slice(-6)).toEqual(['sh', '/cache/root', '/data', '--', 'python3', 'a b.py']);
  });
});

describe('steps run again only when their inputs change', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'starpo-setup-'));
    mkdirSync(join(folder, 'src/build'), { recursive: true });
    writeFileSync(join(folder, 'src/a.cpp'), 'one');
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  test('content, names and new files count; ignored ones do not', () => {
    const take = () => fingerprint(folder, ['src', 'absent'], (path) => path.startsWith('src/build'));
    const before = take();
    writeFileSync(join(folder, 'src/build/a.o'), 'object');
    expect(take()).toBe(before);
    writeFileSync(join(folder, 'src/a.cpp'), 'two');
    const changed = take();
    expect(changed).not.toBe(before);
    writeFileSync(join(folder, 'src/b.cpp'), '');
    expect(take()).not.toBe(changed);
  });

  test('a stamp matches only the inputs it was written for', () => {
    const stamps = new Stamps(join(folder, 'stamps'));
    expect(stamps.matches('npm', 'abc')).toBe(false);
    stamps.write('npm', 'abc');
    expect(stamps.matches('npm', 'abc')).toBe(true);
    expect(stamps.matches('npm', 'abd')).toBe(false);
    expect(stamps.matches('app', 'abc')).toBe(false);
  });
});

describe('programs', () => {
  test('npm runs from outside node_modules, which it deletes', () => {
    const inside = join(root, 'node_modules/.bin');
    expect(outsidePath(`${inside}:/usr/bin:${inside}/`)).toBe('/usr/bin');
  });

  test('the pinned Node is version 24', async () => {
    expect((await run(pinnedNode(), ['--version'])).output).toMatch(/^v24\./);
  });

  test('a missing program is not found, and running it fails with a message', async () => {
    expect(findProgram('no-such-program')).toBeUndefined();
    const result = await run('no-such-program', []);
    expect(result.status).toBe(127);
    expect(result.output).toContain('ENOENT');
  });
});

describe('starpo on the PATH', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'starpo link '));
  });
  afterEach(() => rmSync(folder, { recursive: true }));
  const offer = async (file: string, ask?: () => Promise<string>, path = '/usr/bin') => {
    const lines: string[] = [];
    await offerLink({ file, path, log: (line) => void lines.push(line), ask });
    return lines;
  };

  test('setup prints the command for the link, and creates it only if the user agrees', async () => {
    const file = join(folder, 'bin/starpo');
    const line = `To run \`starpo\` from any folder: mkdir -p '${join(folder, 'bin')}' && ln -s ${launcher} '${file}'`;
    expect(await offer(file)).toEqual([line]);
    expect(await offer(file, async () => '')).toEqual([line]);
    expect(existsSync(join(folder, 'bin'))).toBe(false);
    const path = `export PATH='${join(folder, 'bin')}':"$PATH"`;
    expect(await offer(file, async () => 'y')).toEqual([
      line,
      `Created ${file}.`,
      `Add its folder to your PATH: ${path}`,
    ]);
    expect(realpathSync(file)).toBe(launcher);
    expect(await offer(file, undefined, `/usr/bin:${join(folder, 'bin')}`)).toEqual([]);
  });

  test('the printed command creates the link when pasted into a shell', async () => {
    const file = join(folder, 'other/starpo');
    const [line = ''] = await offer(file);
    expect(await run('sh', ['-c', line.replace(/^.*?: /, '')])).toMatchObject({ status: 0 });
    expect(realpathSync(file)).toBe(launcher);
  });

  test('setup keeps an existing file', async () => {
    const file = join(folder, 'starpo');
    symlinkSync('/nowhere', file);
    expect(await offer(file, async () => 'y')).toEqual([
      `${file} exists already. To replace it: ln -sf ${launcher} '${file}'`,
    ]);
    expect(readlinkSync(file)).toBe('/nowhere');
  });

  test('hints name a command that works in the current folder', () => {
    symlinkSync(launcher, join(folder, 'starpo'));
    expect(pastedCommand('/', folder)).toBe('starpo');
    expect(pastedCommand('/', '/usr/bin')).toBe(`npm --prefix ${root} run --silent starpo --`);
    expect(pastedCommand(root, '/usr/bin')).toBe('npm run --silent starpo --');
  });

  test('the linked command runs in any folder, and its hints can be pasted', async () => {
    const file = join(folder, 'starpo');
    symlinkSync(launcher, file);
    const env = { ...process.env, STARPO_HOME: join(folder, 'home') };
    const linked = await run(file, ['show', 'x'], {
      cwd: folder,
      env: { ...env, PATH: `${folder}:${process.env.PATH}` },
    });
    expect(linked).toMatchObject({ status: 2, output: expect.stringContaining('List runs with `starpo runs`') });
    const unlinked = await run(file, ['runs', '--home', 'here'], { cwd: folder, env });
    expect(unlinked.output).toContain(`No runs in ${join(folder, 'here')}.`);
    const [, pasted = ''] = /`(npm .*) train starter-frozen-lake`/.exec(unlinked.output) ?? [];
    expect(await run('sh', ['-c', `${pasted} --version`], { cwd: folder, env })).toMatchObject({
      status: 0,
      output: `${product.version}\n`,
    });
  });
});

describe('trainer build', () => {
  test('reads progress from ninja', () => {
    expect(parseProgress('[43/210] Building CXX object a.o')).toEqual({ done: 43, total: 210 });
    expect(parseProgress('a.cpp:43: [1/2] warning')).toBeUndefined();
  });

  test('as many compilers run as fit into memory, and at most one per core', () => {
    const gib = 2 ** 30;
    expect([buildJobs(8, 4 * gib), buildJobs(2, 4 * gib), buildJobs(8, 64 * gib), buildJobs(8, gib)]).toEqual([
      3, 2, 8, 1,
    ]);
  });

  test('kernels are built for the GPUs present, or for all if there are none', () => {
    expect(architecturesFor('9.0\n9.0\n')).toEqual(['90a-real']);
    expect(architecturesFor('8.6\n9.0\n')).toEqual(['80', '90a-real']);
    expect(architecturesFor('12.0\n')).toEqual(['80']);
    expect(architecturesFor('7.5\n')).toBeUndefined();
    expect(architecturesFor('')).toBeUndefined();
  });

  test('a build folder is reconfigured only for a GPU that it does not support', () => {
    const cache = 'STARPO_CUDA:STRING=AUTO\nSTARPO_CUDA_ARCHITECTURES:STRING=80;90a-real\n';
    expect(missingArchitectures(['90a-real'], cache)).toEqual([]);
    expect(missingArchitectures(['80', '90a-real'], 'STARPO_CUDA_ARCHITECTURES:STRING=90a-real\n')).toEqual(['80']);
    expect(missingArchitectures(['80'], '')).toEqual(['80']);
  });

  test('an older build folder is reconfigured with explicit source and build paths', async () => {
    const build = mkdtempSync(join(tmpdir(), 'starpo-build-'));
    try {
      writeFileSync(join(build, 'CMakeCache.txt'), 'STARPO_CUDA:STRING=AUTO\n');
      writeFileSync(join(build, 'build.ninja'), '');
      const options = await configureOptions(true, build);
      expect(options?.slice(0, 4)).toEqual(['-S', join(root, 'native'), '-B', build]);
      expect(options).not.toContain('-G');
    } finally {
      rmSync(build, { recursive: true });
    }
  });
});

test('the app opens in Electron on a display, and in the browser without one or for root', () => {
  const linux = { platform: 'linux', environment: { DISPLAY: ':0' }, superuser: false };
  expect(chooseFront(linux)).toBe('electron');
  expect(chooseFront({ ...linux, environment: { WAYLAND_DISPLAY: 'wayland-0' } })).toBe('electron');
  expect(chooseFront({ ...linux, environment: {} })).toBe('browser');
  expect(chooseFront({ ...linux, superuser: true })).toBe('browser');
  expect(chooseFront({ ...linux, platform: 'darwin', environment: {} })).toBe('electron');
});

test("a build ignores the environment's compiler options", () => {
  const env = { PATH: '/usr/bin', CXXFLAGS: '-ffast-math', NVCC_APPEND_FLAGS: '--use_fast_math', LDFLAGS: '-Ofast' };
  expect(buildEnvironment(env)).toEqual({ PATH: '/usr/bin' });
});
