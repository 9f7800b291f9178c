import {
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { root, run, SetupError } from './process.mjs';

const buildFolder = join(root, 'native/build');
/** Where the app reads how far the build is (core/trainer/building.ts): beside the trainer. */
const trainerReport = 'building.json';
/** The trainer stands already while its tests are built, and may be used. */
const testsReport = 'building-tests.json';

/** Milliseconds between the signs of life of a build, and those without any after which its report was left behind: its process's number may be another's by now. */
const beat = 30_000;
const silence = 10 * beat;

/** Ninja's own counter before each file. @param {string} line @returns {{ done: number, total: number } | undefined} */
export function parseProgress(line) {
  const [, done, total] = /^\[(\d+)\/(\d+)\] /.exec(line) ?? [];
  return total ? { done: Number(done), total: Number(total) } : undefined;
}

/**
 * As CMake names the architectures that serve these GPUs, undefined where there is none. 8.0's code runs on all of 8.x, its PTX on what is newer than 9.0.
 * @param {string} computeCapabilities a line for each GPU, such as 9.0, as nvidia-smi gives them
 */
export function architecturesFor(computeCapabilities) {
  const wanted = computeCapabilities
    .split('\n')
    .map((line) => Number.parseFloat(line))
    .filter((capability) => capability >= 8)
    .map((capability) => (capability === 9 ? '90a-real' : '80'));
  return wanted.length > 0 ? [...new Set(wanted)].sort() : undefined;
}

/** Which of the architectures the build folder's kernels lack. @param {string[]} wanted @param {string} cache CMakeCache.txt */
export function missingArchitectures(wanted, cache) {
  const built = /^STARPO_CUDA_ARCHITECTURES:\w+=(.*)$/m.exec(cache)?.[1]?.split(';') ?? [];
  return wanted.filter((architecture) => !built.includes(architecture));
}

const everyArchitecture = ['80', '90a-real'];

/**
 * The options that CMake is run with once more; undefined where the build folder is as it must be.
 * @param {boolean} everyGpu @param {string} [folder] the build folder
 */
export async function configureOptions(everyGpu, folder = buildFolder) {
  // Both said each time: CMake takes the working directory for what it isn't told.
  const place = ['-S', join(root, 'native'), '-B', folder];
  const query = ['--query-gpu=compute_cap', '--format=csv,noheader'];
  const { status, output } = everyGpu ? { status: 1, output: '' } : await run('nvidia-smi', query);
  const wanted = (status === 0 && architecturesFor(output)) || everyArchitecture;
  const file = join(folder, 'CMakeCache.txt');
  if (!existsSync(file) || !existsSync(join(folder, 'build.ninja')))
    return [
      ...[...place, '-G', 'Ninja', '-DCMAKE_BUILD_TYPE=Release', '-DSTARPO_UNITY=ON'],
      `-DSTARPO_CUDA_ARCHITECTURES=${wanted.join(';')}`,
    ];
  // A folder that serves more than this machine's GPUs is left as it is: the tests build for all of them.
  if (missingArchitectures(wanted, readFileSync(file, 'utf8')).length === 0) return undefined;
  return [...place, `-DSTARPO_CUDA_ARCHITECTURES=${everyArchitecture.join(';')}`];
}

/**
 * Builds the trainer, for the GPUs that are there unless all are wanted, and says how far it is to `onProgress` and to an app that is open.
 * @param {string[]} targets
 * @param {{ everyGpu?: boolean, folder?: string, onProgress?: (progress: { done: number, total: number }) => void, signal?: AbortSignal, niceness?: number }} [options]
 */
export async function buildNative(
  targets,
  { everyGpu = false, folder = buildFolder, onProgress = () => {}, signal, niceness = 0 } = {},
) {
  const reportFile = join(folder, targets.includes('starpo-trainer') ? trainerReport : testsReport);
  mkdirSync(folder, { recursive: true });
  for (const name of [trainerReport, testsReport])
    await otherBuild(join(folder, name), { onProgress, signal });
  report(reportFile, { done: 0, total: 0, problem: null });
  const living = setInterval(() => touch(reportFile), beat);
  try {
    const configure = await configureOptions(everyGpu, folder);
    if (configure) await must('cmake', configure, 'A library that CMake misses is named above.', { signal });
    await must(
      'ninja',
      ['-C', folder, '-j', String(availableParallelism()), ...targets],
      'If the messages above look stale, delete native/build and try again.',
      {
        signal,
        niceness,
        onLine: (line) => {
          const progress = parseProgress(line);
          if (!progress) return;
          report(reportFile, { ...progress, problem: null });
          onProgress(progress);
        },
      },
    );
  } catch (error) {
    const isOurs = error instanceof SetupError && !signal?.aborted;
    if (isOurs) report(reportFile, { done: 0, total: 0, problem: problemOf(error) });
    else rmSync(reportFile, { force: true });
    throw error;
  } finally {
    clearInterval(living);
  }
  rmSync(reportFile, { force: true });
}

/** What the page shows of a failed build: the compiler's own first error. @param {SetupError} error */
function problemOf(error) {
  const first = error.output.split('\n').find((line) => /\berror\b|\bError\b/.test(line));
  return {
    message: first ? `${error.message} ${first.trim()}` : error.message,
    hint: 'The terminal says all of it. Run `npm run setup` once it is mended.',
  };
}

/** For an app that ends while the trainer is still being built. */
export function forgetBuild() {
  const reportFile = join(buildFolder, trainerReport);
  const said = readReport(reportFile);
  if (said?.pid === process.pid && !said.problem) rmSync(reportFile, { force: true });
}

/**
 * Waits until another set-up is through with this folder: two ninjas delete each other's files.
 * @param {string} reportFile @param {{ onProgress: (progress: { done: number, total: number }) => void, signal: AbortSignal | undefined }} options
 */
async function otherBuild(reportFile, { onProgress, signal }) {
  for (;;) {
    const said = readReport(reportFile);
    if (!said || said.problem || said.pid === process.pid || !isAlive(said.pid)) return;
    if (Date.now() - (statSync(reportFile, { throwIfNoEntry: false })?.mtimeMs ?? 0) > silence) return;
    if (said.total > 0) onProgress(said);
    await pause(500, undefined, { signal });
  }
}

/** @param {string} reportFile @returns {{ pid: number, done: number, total: number, problem: unknown } | undefined} */
function readReport(reportFile) {
  try {
    return JSON.parse(readFileSync(reportFile, 'utf8'));
  } catch {
    return undefined;
  }
}

/** @param {string} reportFile */
function touch(reportFile) {
  try {
    utimesSync(reportFile, new Date(), new Date());
  } catch {
    // It couldn't be written either.
  }
}

/** @param {number} pid */
function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return /** @type {NodeJS.ErrnoException} */ (error).code === 'EPERM';
  }
}

/** For those who look; the build goes on where it can't be written. @param {string} reportFile @param {{ done: number, total: number, problem: { message: string, hint: string } | null }} state */
function report(reportFile, state) {
  try {
    writeFileSync(`${reportFile}.new`, JSON.stringify({ pid: process.pid, ...state }));
    renameSync(`${reportFile}.new`, reportFile);
  } catch {
    rmSync(`${reportFile}.new`, { force: true });
  }
}

/** @param {string} program @param {string[]} args @param {string} hint @param {import('./process.mjs').RunOptions} options */
async function must(program, args, hint, options) {
  const result = await run(program, args, options);
  if (result.status !== 0) throw new SetupError(`\`${program}\` failed.`, hint, result.output);
}
