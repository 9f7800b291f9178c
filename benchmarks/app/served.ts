import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type Browser, chromium } from 'playwright-core';
import { type Client, createClient } from '../../core/contract/client.ts';
import { keyFromToken } from '../../core/contract/handshake.ts';
import { openWebSocket } from '../../core/contract/web-socket.ts';
import { Studio } from '../../core/host/studio.ts';
import { chromiumPath } from '../../scripts/lib/debian-packages.mjs';

/** Shared by the app's benchmarks: a server for the built page, in a separate process or this process, and a browser. */

const root = join(import.meta.dirname, '../..');
const program = join(root, 'out/main/cli.cjs');

export const launchBrowser = (): Promise<Browser> => chromium.launch({ executablePath: chromiumPath() });

/** Returns the load average over the last minute. */
export const load = () => Number(loadavg()[0]!.toFixed(1));

/** Starts `starpo serve` as `npm start` does. Throws if the app isn't built. */
export function serve(home: string, env: NodeJS.ProcessEnv = process.env): ChildProcess {
  if (!existsSync(program)) throw new Error('The app is not built: run `npm run build` first.');
  return spawn(process.execPath, [program, 'serve', '--port', '0', '--home', home], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

export async function printedAddress(core: ChildProcess): Promise<string> {
  for await (const text of createInterface(core.stdout!)) {
    const found = /(http:\/\/127\.0\.0\.1:\d+\/\S*)/.exec(text);
    if (found) return found[1]!;
  }
  throw new Error('starpo serve exited.');
}

/** Connects a client; resolves when the data folder is ingested. */
export async function clientOf(home: string, address: string): Promise<Client> {
  const { origin } = new URL(address);
  const key = await keyFromToken(readFileSync(join(home, 'token'), 'utf8').trim(), origin);
  const client = createClient(await openWebSocket(origin, key));
  await client.call('history.ready', {});
  return client;
}

export async function end(core: ChildProcess): Promise<void> {
  core.kill('SIGTERM');
  await once(core, 'exit');
}

/** Starts a core in this process. */
export async function openStudio(home: string): Promise<{ studio: Studio; client: Client }> {
  const studio = new Studio({
    home,
    resources: join(root, 'resources'),
    log: console.error,
    endpoint: { port: 0, webFolder: join(root, 'out/renderer') },
  });
  await studio.stay();
  return { studio, client: createClient(await studio.open()) };
}
