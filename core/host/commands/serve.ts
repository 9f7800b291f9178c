import { join } from 'node:path';
import type { Core } from '../../index.ts';
import { startHost } from '../http.ts';
import { print } from '../output.ts';
import { nextSignal } from '../signals.ts';
import { withCore } from './with-core.ts';

const webFolder = join(import.meta.dirname, '../../../out/renderer');

/** Serves until a signal; trainers go on. */
export async function serve({ port, home }: { port: number; home?: string }): Promise<void> {
  const use = async (core: Core) => {
    const host = await startHost(core, webFolder, port);
    try {
      print(`StarPO Studio is at ${host.address}`);
      print(`Data folder: ${core.home}. Ctrl-C ends the app; training goes on.`);
      await nextSignal().signal;
    } finally {
      await host.close();
    }
  };
  await withCore(home, use, { worksQueue: true });
}
