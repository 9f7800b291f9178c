import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { availableParallelism, totalmem } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { mustRun, root, run, SetupError } from './process.mjs';

const buildFolder = join(root, 'native/build');
/** Build progress that the app reads (core/trainer/building.ts). */
const trainerReport = 'building.json';
/** A separate file: the trainer is usable while its tests are built. */
const testsReport = 'building-tests.json';

/** Heartbeat interval of a build in ms, and the silence after which its report is stale: its pid may belong to another process. */
const beat = 30_000;
const silence = 10 * beat;

/** Memory that a compiler needs for the largest translation unit, in bytes. */
const compilerMemory = 1.3 * 2 ** 30;

/** Returns the number of compilers that fit into memory, up to one per core. */
export function buildJobs(
  cores = availableParallelism(),
  memory = Math.min(totalmem(), process.constrainedMemory() || Infinity),
) {
  return Math.max(1, Math.min(cores, Math.floor(memory / compilerMemory)));
}

/** Parses ninja's `[done/total]` counter. @param {string} line @returns {{ done: number, total: number } | undefined} */
export function parseProgress(line) {
  const [, done, total] = /^\[(\d+)\/(\d+)\] /.exec(line) ?? [];
  return total ? { done: Number(done), total: Number(total) } : undefined;
}

/**
 * Returns CMake's architectures for these GPUs, or undefined if none is supported. Code for 8.0 runs on 8.x, its PTX on GPUs newer than 9.0.
 * @param {string} computeCapabilities nvidia-smi's output, one line per GPU, such as 9.0
 */
export function architecturesFor(computeCapabilities) {
  const required = computeCapabilities
    .split('\n')
    .map((line) => Number.parseFloat(line))
    .filter((capability) => capability >= 8)
    .map((capability) => (capability === 9 ? '90a-real' : '80'));
  return required.length > 0 ? [...new Set(required)].sort() : undefined;
}

/** Returns the architectures that the build folder lacks. @param {string[]} required @param {string} cache CMakeCache.txt */
export function missingArchitectures(required, cache) {
  const built = /^STARPO_CUDA_ARCHITECTURES:\w+=(.*)$/m.exec(cache)?.[1]?.split(';') ?? [];
  return required.filter((architecture) => !built.includes(architecture));
}

const everyArchitecture = ['80', '90a-real'];

/** Environment variables that add compiler or linker options. Options such as -ffast-math would change the trainer's results. */
const flagVariables = ['CFLAGS', 'CXXFLAGS', 'CUDAFLAGS', 'LDFLAGS', 'NVCC_APPEND_FLAGS', 'NVCC_PREPEND_FLAGS'];

/** Returns the environment for a build with the project's own options. @param {NodeJS.ProcessEnv} [env] */
export function buildEnvironment(env = process.env) {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !flagVariables.includes(name)));
}

/**
 * Returns the options for a new CMake run, or undefined if the build folder is up to date.
 * @param {boolean} everyGpu @param {string} [folder] the build folder
 */
export async function configureOptions(everyGpu, folder = buildFolder) {
  // Always pass both: CMake defaults to the working directory.
  const place = ['-S', join(root, 'native'), '-B', folder];
  const query = ['--query-gpu=compute_cap', '--format=csv,noheader'];
  const { status, output } = everyGpu ? { status: 1, output: '' } : await run('nvidia-smi', query);
  const required = (status === 0 && architecturesFor(output)) || everyArchitecture;
  const file = join(folder, 'CMakeCache.txt');
  if (!existsSync(file) || !existsSync(join(folder, 'build.ninja')))
    return [
      ...[...place, '-G', 'Ninja', '-DCMAKE_BUILD_TYPE=Release', '-DSTARPO_UNITY=ON'],
      `-DSTARPO_CUDA_ARCHITECTURES=${required.join(';')}`,
    ];
  // Keep a folder that supports more GPUs: the tests build for all.
  if (missingArchitectures(required, readFileSync(file, 'utf8')).length === 0) return undefined;
  return [...place, `-DSTARPO_CUDA_ARCHITECTURES=${everyArchitecture.join(';')}`];
}

/**
 * Builds targets for this machine's GPUs, or for all, and reports progress to `onProgress` and to an open app.
 * @param {string[]} targets
 * @param {{ everyGpu?: boolean, folder?: string, onProgress?: (progress: { done: number, total: number }) => void, signal?: AbortSignal, niceness?: number }} [options]
 */
export async function buildNative(
  targets,
  { everyGpu = false, folder = buildFolder, onProgress = () => {}, signal, niceness = 0 } = {},
) {
  const reportFile = join(folder, targets.includes('starpo-trainer') ? trainerReport : testsReport);
  mkdirSync(folder, { recursive: true });
  for (const name of [trainerReport, testsReport]) await waitForOtherBuild(join(folder, name), { onProgress, signal });
  report(reportFile, { done: 0, total: 0, problem: null });
  const heartbeat = setInterval(() => touch(reportFile), beat);
  try {
    const configure = await configureOptions(everyGpu, folder);
    const hint = 'CMake names the missing library above.';
    const env = buildEnvironment();
    if (configure) await mustRun('cmake', configure, { hint, signal, env });
    await mustRun('ninja', ['-C', folder, '-j', String(buildJobs()), ...targets], {
      hint: 'If the messages above look stale, delete native/build and try again.',
      signal,
      niceness,
      env,
      onLine: (line) => {
        const progress = parseProgress(line);
        if (!progress) return;
        report(reportFile, { ...progress, problem: null });
        onProgress(progress);
      },
    });
  } catch (error) {
    const isOurs = error instanceof SetupError && !signal?.aborted;
    if (isOurs) report(reportFile, { done: 0, total: 0, problem: problemOf(error) });
    else rmSync(reportFile, { force: true });
    throw error;
  } finally {
    clearInterval(heartbeat);
  }
  rmSync(reportFile, { force: true });
}

/** Returns the compiler's first error for the app. @param {SetupError} error */
function problemOf(error) {
  const first = error.output.split('\n').find((line) => /\berror\b|\bError\b/.test(line));
  return {
    message: first ? `${error.message} ${first.trim()}` : error.message,
    hint: 'See the terminal for details. Fix it, then run `npm run setup`.',
  };
}

/** Removes this process's build report when the app exits during a build. */
export function forgetBuild() {
  const reportFile = join(buildFolder, trainerReport);
  const current = readReport(reportFile);
  if (current?.pid === process.pid && !current.problem) rmSync(reportFile, { force: true });
}

/**
 * Waits for another setup in this folder: parallel ninjas delete each other's files.
 * @param {string} reportFile @param {{ onProgress: (progress: { done: number, total: number }) => void, signal: AbortSignal | undefined }} options
 */
async function waitForOtherBuild(reportFile, { onProgress, signal }) {
  for (;;) {
    const current = readReport(reportFile);
    if (!current || current.problem || current.pid === process.pid || !isAlive(current.pid)) return;
    if (Date.now() - (statSync(reportFile, { throwIfNoEntry: false })?.mtimeMs ?? 0) > silence) return;
    if (current.total > 0) onProgress(current);
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
    // The report is optional.
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

/** Writes the build report. A write error doesn't stop the build. @param {string} reportFile @param {{ done: number, total: number, problem: { message: string, hint: string } | null }} state */
function report(reportFile, state) {
  try {
    writeFileSync(`${reportFile}.new`, JSON.stringify({ pid: process.pid, ...state }));
    renameSync(`${reportFile}.new`, reportFile);
  } catch {
    rmSync(`${reportFile}.new`, { force: true });
  }
}
