import { spawnSync } from 'node:child_process';

/** Runs a command with a limit on file size in bytes, so that longer writes fail as on a full disk. */
export function runWithin(bytes: number, command: readonly string[], env = process.env) {
  const script = `ulimit -f ${Math.floor(bytes / 512)}; exec "$@"`;
  const { status, stderr } = spawnSync('/bin/sh', ['-c', script, 'sh', ...command], {
    env,
    encoding: 'utf8',
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  return { status, errors: stderr };
}
