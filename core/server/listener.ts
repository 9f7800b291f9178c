import { readFileSync } from 'node:fs';

/** State of a listening socket in the tables of proc(5). */
const listening = '0A';

/** Whether a port of this machine is held by processes of our own user alone; false where the system doesn't tell. */
export function listensAsUs(port: number): boolean {
  const owners = ['/proc/net/tcp', '/proc/net/tcp6'].flatMap((table) => listenersOf(read(table), port));
  return owners.length > 0 && owners.every((user) => user === process.getuid?.());
}

/** Numbers of the users who listen on a port, by a table of proc(5). */
export function listenersOf(table: string, port: number): number[] {
  const end = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  return table.split('\n').flatMap((line) => {
    const [, address, , state, , , , user] = line.trim().split(/\s+/);
    return state === listening && address?.endsWith(end) ? [Number(user)] : [];
  });
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
