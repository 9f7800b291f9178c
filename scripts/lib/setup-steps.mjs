import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { buildPackages, installPackages, testPackages } from './debian-packages.mjs';
import { fingerprint, Stamps } from './fingerprint.mjs';
import { findProgram, outsidePath, pinnedNode, root, run, SetupError } from './process.mjs';

// In node_modules, so that a fresh installation also builds afresh.
const stamps = new Stamps(join(root, 'node_modules/.cache/starpo-setup'));

/**
 * Everything that a checkout needs before it can start, in order. Nothing is done twice for the same inputs.
 * @param {{ forTests?: boolean, log?: (text: string) => void }} [options] log: writes text without a line break
 */
export async function setup({ forTests = false, log = (text) => process.stdout.write(text) } = {}) {
  if (Number.parseInt(process.versions.node, 10) < 20) {
    throw new SetupError(`Node ${process.versions.node} is too old.`, 'Install Node 20 or newer.');
  }
  await step('system packages', log, () => installPackages(systemPackages(forTests)));
  await step('npm packages', log, installNpmPackages);
  await step('trainer (native)', log, () => buildTrainer(forTests));
  await step('app', log, buildApp);
}

/** @param {boolean} forTests */
export function systemPackages(forTests, environment = process.env) {
  const ownBrowser = Boolean(environment.CHROMIUM_PATH);
  return forTests && !ownBrowser ? [...buildPackages, ...testPackages] : buildPackages;
}

/** @param {string} name @param {(text: string) => void} log @param {() => Promise<boolean>} work says whether anything was done */
async function step(name, log, work) {
  log(`setup: ${name.padEnd(18)}`);
  const start = performance.now();
  try {
    const worked = await work();
    const seconds = `${((performance.now() - start) / 1000).toFixed(1)} s`;
    log(worked ? `done (${seconds})\n` : `already done (${seconds})\n`);
  } catch (error) {
    log('failed\n');
    throw error;
  }
}

async function installNpmPackages() {
  const inputs = fingerprint(root, ['package-lock.json', '.npmrc']);
  if (stamps.matches('npm', inputs)) return false;
  const path = outsidePath();
  const npm = findProgram('npm', path);
  if (!npm) throw new SetupError('npm is not on the PATH.', 'Install it (Debian: apt-get install npm).');
  await must(
    npm,
    ['ci', '--include=dev', '--include=optional'],
    'Check the network and the registry that npm is set to use.',
    { ...process.env, PATH: path },
  );
  stamps.write('npm', inputs);
  return true;
}

/** Builds the trainer, and its tests only where they are wanted: a first start shouldn't wait for them. @param {boolean} withTests */
async function buildTrainer(withTests) {
  const stamp = withTests ? 'native-tests' : 'native';
  const targets = withTests ? ['starpo-trainer', 'starpo-tests'] : ['starpo-trainer'];
  const inputs = fingerprint(root, ['native'], isBuildFolder);
  const built = targets.every((name) => existsSync(join(root, 'native/build', name)));
  if (built && stamps.matches(stamp, inputs)) return false;
  if (!existsSync(join(root, 'native/build/build.ninja'))) {
    await must(
      'cmake',
      ['-S', 'native', '-B', 'native/build', '-G', 'Ninja', '-DCMAKE_BUILD_TYPE=Release'],
      'A library that CMake misses is named above.',
    );
  }
  await must(
    'cmake',
    ['--build', 'native/build', '--parallel', String(availableParallelism()), '--target', ...targets],
    'If the messages above look stale, delete native/build and try again.',
  );
  stamps.write(stamp, inputs);
  return true;
}

/** @param {string} path */
const isBuildFolder = (path) => /^native\/build/.test(path);

/** @param {string} path */
const isTest = (path) => /\.test\.tsx?$/.test(path);

async function buildApp() {
  const sources = ['core', 'electron', 'renderer', 'electron.vite.config.ts', 'package-lock.json'];
  const inputs = fingerprint(root, sources, isTest);
  if (existsSync(join(root, 'out/renderer/index.html')) && stamps.matches('app', inputs)) return false;
  await must(
    pinnedNode(),
    ['node_modules/electron-vite/bin/electron-vite.js', 'build'],
    'The file at fault is named above.',
  );
  stamps.write('app', inputs);
  return true;
}

/** @param {string} program @param {string[]} args @param {string} hint @param {NodeJS.ProcessEnv} [env] */
async function must(program, args, hint, env) {
  const result = await run(program, args, { env });
  if (result.status !== 0) throw new SetupError(`\`${program} ${args[0]}\` failed.`, hint, result.output);
}
