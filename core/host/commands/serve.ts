import { print } from '../output.ts';
import { nextSignal } from '../signals.ts';
import { webFolder } from '../web-folder.ts';
import { withStudio } from './with-client.ts';

/** Serves until a signal; trainers go on. */
export async function serve({ port, home }: { port: number; home?: string }): Promise<void> {
  const wishes = { home, endpoint: { port, webFolder }, worksQueue: true, inBackground: true };
  await withStudio(wishes, async (studio) => {
    await studio.stay();
    const { signal } = nextSignal();
    print(`StarPO Studio is at ${(await studio.endpoint()).address}`);
    print(`Data folder: ${studio.home}. Ctrl-C ends the app; training goes on.`);
    await signal;
  });
}
