import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

/**
 * Waits until no other client on this machine plays the server over HTTP, because all clients share its one episode. The next client continues when
 * the earlier one exits. Does not wait on systems other than Linux, which have no abstract sockets.
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
