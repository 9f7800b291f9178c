import { channelPair } from '../../api/channel.ts';
import { type Client, createClient } from '../../api/client.ts';
import { serveChannel } from '../../api/server.ts';
import { withCore } from './with-core.ts';

/** For a brief command: core's API. */
export async function withClient<T>(
  home: string | undefined,
  use: (client: Client) => Promise<T>,
): Promise<T> {
  return withCore(home, async (core) => {
    const { left, right, close } = channelPair();
    serveChannel(core, right);
    try {
      return await use(createClient(left));
    } finally {
      close();
    }
  });
}
