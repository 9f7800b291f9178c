import { hostname } from 'node:os';
import { dataFolder } from '../../base/home.ts';
import { Failure } from '../../contract/failure.ts';
import { oneTimeCode } from '../../contract/handshake.ts';
import { readHost } from '../../data-folder/host-file.ts';
import { pageOf, webFolder } from '../../server/address.ts';
import { hasLinkHandler, openPage } from '../open-page.ts';
import { print } from '../output.ts';
import { nextSignal } from '../signals.ts';
import { type CommandOptions, withRun, withStudio } from './with-client.ts';

/** A server that shows the app to a browser. */
interface WebServer {
  origin: string;
  code: string;
}

/** Opens the app or the page of a run: in the browser if a server is running, in the desktop app if it is installed, else serves it until a signal. */
export async function openApp(
  named: string | undefined,
  { home, port }: CommandOptions & { port: number },
): Promise<void> {
  const page =
    named === undefined
      ? '/start'
      : `/run/${await withRun(home, named, async (_, runId) => runId, { repeatable: true })}`;
  const running = await webServerOf(dataFolder(home));
  if (running) return show(running, page);
  // The desktop app opens its own data folder, by default this one.
  const own = dataFolder(home) === dataFolder(undefined, {});
  if (own && (await hasLinkHandler()) && (await openPage(`starpo:/${page}`))) return;
  await withStudio({ home, endpoint: { port, webFolder }, worksQueue: true, inBackground: true }, async (studio) => {
    await studio.stay();
    const { signal } = nextSignal();
    await show(await studio.endpoint(), page);
    print('Press Ctrl+C to stop the app; training continues.');
    const failure = await Promise.race([signal, studio.ended]);
    if (failure instanceof Failure) throw failure;
  });
}

/** Prints the address, and opens it in a browser if there is a desktop. */
async function show({ origin, code }: WebServer, page: string): Promise<void> {
  print(`StarPO Studio is at ${pageOf(origin, code, page)}`);
  await openPage(pageOf(origin, await oneTimeCode(code), page));
}

/** Returns the data folder's host if it shows the app to browsers, else null. */
async function webServerOf(home: string): Promise<WebServer | null> {
  const record = readHost(home);
  if (!record || record.host !== hostname()) return null;
  const { reachCore } = await import('../../server/reach.ts');
  const channel = await reachCore(record.address, record.token);
  if (!channel) return null;
  channel.close();
  const shown = await fetch(record.address).catch(() => null);
  return shown?.headers.get('content-type')?.startsWith('text/html')
    ? { origin: record.address, code: channel.code }
    : null;
}
