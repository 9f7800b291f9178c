import { spawn } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { setPriority } from 'node:os';
import { delimiter, join, resolve, sep } from 'node:path';
import { createInterface } from 'node:readline';

export const root = resolve(import.meta.dirname, '../..');

// Lets child Node processes reuse compiled modules.
process.env.NODE_COMPILE_CACHE ??= join(root, 'node_modules/.cache/compiled');

/** A failure that the user can fix, with a hint. */
export class SetupError extends Error {
  /** @param {string} message @param {string} hint @param {string} [output] what the failed command printed */
  constructor(message, hint, output = '') {
    super(message);
    this.hint = hint;
    this.output = output;
  }
}

/** Returns the path of Node 24. Shells may still remember an older `node`, so use the path. */
export function pinnedNode() {
  const pinned = join(root, 'node_modules/.bin/node');
  if (existsSync(pinned)) return pinned;
  if (Number.parseInt(process.versions.node, 10) >= 24) return process.execPath;
  throw new SetupError('Node 24 was not found.', 'Run `npm run setup`. On macOS, install Node 24 yourself.');
}

/** Returns the PATH without this checkout's node_modules, which `npm ci` deletes. */
export function outsidePath(path = process.env.PATH ?? '') {
  const inside = join(root, 'node_modules') + sep;
  return path
    .split(delimiter)
    .filter((directory) => !(resolve(directory) + sep).startsWith(inside))
    .join(delimiter);
}

/** Returns the C++ and CUDA files below a folder, sorted. @param {string} folder */
export const nativeFiles = (folder) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(h|cpp|cuh|cu)$/.test(name))
    .sort();

/** @param {string} name @param {string} path */
export function findProgram(name, path = process.env.PATH ?? '') {
  return path
    .split(delimiter)
    .filter((directory) => directory !== '')
    .map((directory) => join(directory, name))
    .find((file) => existsSync(file));
}

/**
 * show: also print the output immediately; onLine: called with each line of stdout; timeout: milliseconds; signal: stops the program;
 * niceness: 0 to 19, lowest priority
 * @typedef {{ env?: NodeJS.ProcessEnv, cwd?: string, show?: boolean, onLine?: (line: string) => void, timeout?: number, signal?: AbortSignal | undefined, niceness?: number }} RunOptions
 */

/**
 * Runs a program and returns its exit status and output.
 * @param {string} program @param {string[]} args @param {RunOptions} [options]
 * @returns {Promise<{ status: number, output: string }>}
 */
export function run(
  program,
  args,
  { env = process.env, cwd = root, show = false, onLine, timeout, signal, niceness = 0 } = {},
) {
  return new Promise((done) => {
    const child = spawn(program, args, { cwd, env, timeout, signal, stdio: ['ignore', 'pipe', 'pipe'] });
    if (niceness > 0 && child.pid) setPriority(child.pid, niceness);
    let output = '';
    if (onLine) createInterface(child.stdout).on('line', onLine);
    child.stdout.setEncoding('utf8').on('data', (text) => {
      output += text;
      if (show) process.stdout.write(text);
    });
    child.stderr.setEncoding('utf8').on('data', (text) => {
      output += text;
      if (show) process.stderr.write(text);
    });
    child.on('error', (error) => done({ status: 127, output: `${output}${error.message}\n` }));
    child.on('close', (status) => done({ status: status ?? 1, output }));
  });
}

/**
 * Runs a program and returns its output. Throws a SetupError if it fails.
 * @param {string} program @param {string[]} args @param {RunOptions & { hint?: string }} [options]
 */
export async function mustRun(program, args, { hint = 'See its messages above.', ...options } = {}) {
  const { status, output } = await run(program, args, options);
  if (status === 0) return output;
  const command = [program, ...args.slice(0, 1)].filter((part) => !part.startsWith('-')).join(' ');
  throw new SetupError(`\`${command}\` failed.`, hint, options.show ? '' : output);
}

/**
 * Runs a program in the foreground with our terminal, forwards signals and exits with its status.
 * @param {string} program @param {string[]} args
 * @param {{ env?: NodeJS.ProcessEnv, cwd?: string }} [options]
 */
export function become(program, args, { env = process.env, cwd = root } = {}) {
  const child = spawn(program, args, { cwd, env, stdio: 'inherit' });
  for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])) {
    // A terminal's Ctrl+C reaches the child directly; other signals must be forwarded.
    process.on(signal, () => (signal === 'SIGINT' && process.stdin.isTTY ? undefined : child.kill(signal)));
  }
  child.on('error', (error) => {
    console.error(`${program}: ${error.message}`);
    process.exit(127);
  });
  child.on('exit', (status, signal) => process.exit(status ?? (signal === 'SIGINT' ? 130 : 143)));
}

/** Formats a SetupError: the end of the failed program's output, message and hint. Rethrows other errors. @param {unknown} error */
export function describe(error) {
  if (!(error instanceof SetupError)) throw error;
  const output = error.output.trimEnd().split('\n').slice(-200).join('\n');
  return `${output}\n\nerror: ${error.message}\n  ${error.hint}`.trimStart();
}

/** Prints an error and exits with status 1. @param {unknown} error @returns {never} */
export function fail(error) {
  console.error(`\n${describe(error)}`);
  process.exit(1);
}
