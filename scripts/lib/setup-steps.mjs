import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { browserPackage, buildPackages, clusterPackages, installPackages, testPackages } from './debian-packages.mjs';
import { fingerprint, Stamps } from './fingerprint.mjs';
import { describe, findProgram, mustRun, outsidePath, pinnedNode, root, SetupError } from './process.mjs';
import { buildNative } from './trainer-build.mjs';

// In node_modules, so that a fresh installation also rebuilds.
const stamps = new Stamps(join(root, 'node_modules/.cache/starpo-setup'));

/** Writes text without a line break. @typedef {(text: string) => void} Log */

/** @type {Log} */
const toTerminal = (text) => process.stdout.write(text);

/**
 * Sets up everything a checkout needs, in order. Steps with unchanged inputs are skipped.
 * @param {{ forTests?: boolean, log?: Log }} [options]
 */
export async function setup({ forTests = false, log = toTerminal } = {}) {
  await setupSystem({ forTests, log });
  const abort = new AbortController();
  // Compile while npm installs. If npm is done, the stamps decide whether to build.
  const compiled = isNpmDone()
    ? undefined
    : buildNative(['starpo-trainer'], { everyGpu: forTests, signal: abort.signal });
  // Reported by the step below.
  compiled?.catch(() => {});
  try {
    await setupNode(log);
  } catch (error) {
    abort.abort();
    throw error;
  }
  await step('trainer (native)', log, () => buildTrainer({ everyGpu: forTests, compiled }));
}

/** Builds the trainer's own tests. @param {{ niceness?: number }} [options] */
export async function setupNativeTests(options) {
  const inputs = trainerInputs();
  if (existsSync(testsProgram) && stamps.matches('native-tests', inputs)) return;
  await buildNative(['starpo-tests'], { everyGpu: true, ...options });
  stamps.write('native-tests', inputs);
}

/**
 * Sets up what the app needs to open, without the trainer.
 * @param {{ forTests?: boolean, log?: Log }} [options]
 */
export async function setupApp({ forTests = false, log = toTerminal } = {}) {
  await setupSystem({ forTests, log });
  await setupNode(log);
}

/** @param {{ forTests: boolean, log: Log }} options */
async function setupSystem({ forTests, log }) {
  if (Number.parseInt(process.versions.node, 10) < 20) {
    throw new SetupError(`Node ${process.versions.node} is too old.`, 'Install Node 20 or newer.');
  }
  await step('system packages', log, () => installPackages(systemPackages(forTests)));
}

/** @param {Log} log */
async function setupNode(log) {
  await step('npm packages', log, installNpmPackages);
  await step('app', log, buildApp);
}

/**
 * Builds the trainer while the app is open. Failures are printed and shown in the app.
 * @param {AbortSignal} signal cancels the build
 */
export async function setupTrainer(signal) {
  if (isTrainerBuilt(false)) return;
  const start = performance.now();
  let reported = 0;
  try {
    await buildTrainer({
      signal,
      onProgress: ({ done, total }) => {
        if (Math.floor((10 * done) / total) <= reported) return;
        reported = Math.floor((10 * done) / total);
        console.log(`setup: trainer (native)  ${done} of ${total} files`);
      },
    });
    console.log(`setup: trainer (native)  done (${((performance.now() - start) / 1000).toFixed(1)} s)`);
  } catch (error) {
    if (!signal.aborted) console.error(error instanceof SetupError ? describe(error) : error);
  }
}

/** @param {boolean} forTests */
export function systemPackages(forTests, environment = process.env, superuser = process.getuid?.() === 0) {
  if (!forTests) return buildPackages;
  const browser = environment.CHROMIUM_PATH ? [] : [browserPackage];
  return [...buildPackages, ...testPackages, ...(superuser ? clusterPackages : []), ...browser];
}

/** @param {string} name @param {(text: string) => void} log @param {() => Promise<boolean>} work returns whether it did anything */
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

const npmInputs = () => fingerprint(root, ['package-lock.json', '.npmrc']);
const isNpmDone = () => stamps.matches('npm', npmInputs());

async function installNpmPackages() {
  if (isNpmDone()) return false;
  const path = outsidePath();
  const npm = findProgram('npm', path);
  if (!npm) throw new SetupError('npm is not on the PATH.', 'Install it (Debian: `apt-get install npm`).');
  await mustRun(npm, ['ci', '--include=dev', '--include=optional'], {
    hint: 'See the messages of npm above. If a download failed, check the network and the npm registry setting.',
    env: { ...process.env, PATH: path },
  });
  stamps.write('npm', npmInputs());
  return true;
}

/** The trainer embeds options.json and the version in package.json. */
const trainerSources = ['native', 'core/run-config/options.json', 'package.json'];

const trainerProgram = join(root, 'native/build/starpo-trainer');
const testsProgram = join(root, 'native/build/starpo-tests');

const trainerInputs = () => fingerprint(root, trainerSources, isBuildFolder);

/** @param {boolean} everyGpu whether it must support all GPUs, not just this machine's */
function isTrainerBuilt(everyGpu) {
  const inputs = trainerInputs();
  const serves = [everyGpuStamp, ...(everyGpu ? [] : ['native'])];
  return existsSync(trainerProgram) && serves.some((stamp) => stamps.matches(stamp, inputs));
}

const everyGpuStamp = 'native-every-gpu';

/**
 * Builds the trainer for this machine's GPUs, which compiles faster, or for all supported GPUs.
 * @param {Parameters<typeof buildNative>[1] & { compiled?: Promise<void> | undefined }} [options] compiled: a build already in progress
 */
async function buildTrainer({ compiled, ...options } = {}) {
  const everyGpu = options.everyGpu ?? false;
  if (isTrainerBuilt(everyGpu)) return false;
  const inputs = trainerInputs();
  await (compiled ?? buildNative(['starpo-trainer'], options));
  stamps.write(everyGpu ? everyGpuStamp : 'native', inputs);
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
  await mustRun(pinnedNode(), ['node_modules/electron-vite/bin/electron-vite.js', 'build']);
  stamps.write('app', inputs);
  return true;
}
