import { lstatSync, mkdirSync, realpathSync, symlinkSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { findProgram, root } from './process.mjs';

/** The command line of this checkout. */
export const launcher = join(root, 'scripts/starpo.mjs');

/** Returns whether `starpo` on the PATH is this checkout's command line. */
export function isOnPath(path = process.env.PATH) {
  const found = findProgram('starpo', path);
  return found !== undefined && realpathSync(found) === realpathSync(launcher);
}

/** Returns the command that starts this checkout's command line when pasted into a shell in `cwd`. */
export function pastedCommand(cwd = process.cwd(), path = process.env.PATH) {
  if (isOnPath(path)) return 'starpo';
  return cwd === root ? 'npm run --silent starpo --' : `npm --prefix ${quoted(root)} run --silent starpo --`;
}

/** Quotes a text for a POSIX shell if necessary. @param {string} text */
export const quoted = (text) => (/^[\w./:@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

/** Returns the shell command that puts `starpo` on the PATH. @param {string} file */
export const linkCommand = (file) => `mkdir -p ${quoted(dirname(file))} && ln -s ${quoted(launcher)} ${quoted(file)}`;

/**
 * Links `starpo` into ~/.local/bin if the user agrees on a terminal; elsewhere prints the command for it. An existing file is kept.
 * @param {{ file?: string, path?: string, log?: (line: string) => void, ask?: ((question: string) => Promise<string>) | undefined }} [options]
 */
export async function offerLink({
  file = join(homedir(), '.local/bin/starpo'),
  path = process.env.PATH ?? '',
  log = console.log,
  ask = terminalQuestion(),
} = {}) {
  if (isOnPath(path)) return;
  if (lstatSync(file, { throwIfNoEntry: false }))
    return log(`${file} exists already. To replace it: ln -sf ${quoted(launcher)} ${quoted(file)}`);
  log(`To run \`starpo\` from any folder: ${linkCommand(file)}`);
  if (!/^y(es)?$/i.test((await ask?.('Create this link now? [y/N] ')) ?? '')) return;
  try {
    mkdirSync(dirname(file), { recursive: true });
    symlinkSync(launcher, file);
  } catch (error) {
    return log(`The link was not created: ${/** @type {Error} */ (error).message}`);
  }
  log(`Created ${file}.`);
  if (!path.split(delimiter).includes(dirname(file)))
    log(`Add its folder to your PATH: export PATH=${quoted(dirname(file))}:"$PATH"`);
}

/** Returns a function that asks on the terminal, or undefined without a terminal and in CI. */
function terminalQuestion({ stdin, stdout, env } = process) {
  if (!stdin.isTTY || !stdout.isTTY || env.CI) return undefined;
  return async (/** @type {string} */ question) => {
    const terminal = createInterface({ input: stdin, output: stdout });
    // Ctrl-D means no.
    const ended = new Promise((resolve) => terminal.once('close', () => resolve('')));
    try {
      return String(await Promise.race([terminal.question(question), ended]));
    } finally {
      terminal.close();
    }
  };
}
