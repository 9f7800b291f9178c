import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

/**
 * Waits until no other client on this computer plays the server over HTTP: all clients share its one episode. A later client takes over when the
 * earlier one exits. Other systems than Linux have no abstract sockets, and don't wait.
 */
export async function becomeOnlyClient(address: string, onWait: () => void): Promise<void> {
  if (process.platform !== 'linux') return;
  const path = `\0starpo-openenv-${createHash('sha256').update(address).digest('hex')}`;
  for (let waited = false; ; await pause(100)) {
    const server = createServer((socket) => socket.destroy()).listen(path);
    try {
      await once(server, 'listening');
      server.unref();
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
      if (!waited) onWait();
      waited = true;
    }
  }
}
