/**
 * Measures core during ingestion: serves a data folder of 1,001 runs, one of ten hours, with a new history, then sends 60,000 notices to
 * a client that has stopped reading.
 * Usage: npm run benchmark:app -- [--runs 1000] [--out FILE]. Run `npm run build` first.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { WebSocket } from 'ws';
import { type Client, createClient } from '../../core/contract/client.ts';
import { keyFromToken } from '../../core/contract/handshake.ts';
import { openWebSocket, type SocketConstructor } from '../../core/contract/web-socket.ts';
import { commandArguments, machine, writeResult } from '../machine.ts';
import { brief, logLine, tenHours, writeRun } from './data-folder.ts';

const { values } = parseArgs({
  options: { runs: { type: 'string', default: '1000' }, out: { type: 'string' } },
});
const root = join(import.meta.dirname, '../..');
const page = join(root, 'out/renderer/index.html');
if (!existsSync(page)) throw new Error('The page is not built: run `npm run build` first.');
const notices = 60_000;

interface Report {
  longestBlock: number;
  longestWork: number;
  rss: number;
  inUse: number;
}

const started: ChildProcess[] = [];

class Watched {
  readonly process: ChildProcess;
  readonly startedAt = performance.now();

  constructor(args: readonly string[]) {
    const watch = ['--expose-gc', '--import', join(import.meta.dirname, 'watch-loop.ts')];
    this.process = spawn(process.execPath, [...watch, ...args], {
      stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    });
    started.push(this.process);
  }

  async report(): Promise<Report> {
    this.process.send('report');
    const [report] = await once(this.process, 'message');
    return report as Report;
  }

  /** Milliseconds since the start. */
  age = () => Math.round(performance.now() - this.startedAt);

  async end(): Promise<void> {
    this.process.kill('SIGTERM');
    await once(this.process, 'exit');
  }
}

const home = mkdtempSync(join(tmpdir(), 'starpo-benchmark-'));
const load = () => loadavg()[0]!.toFixed(1);

try {
  const count = Number(values.runs);
  const events = writeRun(home, 'ten-hours', tenHours);
  for (let index = 0; index < count; index++) writeRun(home, `run-${String(index).padStart(4, '0')}`, brief);
  const loadBefore = load();

  // The same measurement for an idle process, as a baseline.
  const idle = new Watched(['--eval', 'setInterval(() => {}, 1000)']);
  const core = new Watched([join(root, 'core/host/cli.ts'), 'serve', '--port', '0', '--home', home]);
  const origin = await printedOrigin(core.process);
  await Promise.all([core.report(), idle.report()]);
  await fetchPage(origin);
  const pageServed = core.age();
  const client = await connect(origin);
  await client.call('history.ready', {});
  const takenIn = core.age();
  const blocked = await core.report();
  const idleBlocked = await idle.report();

  const listed = await list();
  const [runs, long] = [listed.runs.length, listed.runs.find(({ id }) => id === 'ten-hours')];
  if (runs !== count + 1 || long?.iteration !== tenHours.iterations)
    throw new Error(`${runs} runs are listed, the long one at iteration ${long?.iteration}.`);
  const afterListing = await core.report();

  const stalled = await costOfStalledClient(core, client, origin);
  await core.end();
  await idle.end();

  const round = (value: number) => Math.round(value * 10) / 10;
  const result = {
    command: `npm run benchmark:app${commandArguments()}`,
    machine: machine(),
    load: { before: Number(loadBefore), after: Number(load()) },
    runs,
    events_of_the_long_run: events,
    milliseconds_from_the_start: { page_served: pageServed, taken_in: takenIn },
    milliseconds_of_listing_by_command: Math.round(listed.milliseconds),
    longest_block_milliseconds: {
      taking_in: round(blocked.longestBlock),
      listing: round(afterListing.longestBlock),
      idle_process_meanwhile: round(idleBlocked.longestBlock),
    },
    longest_block_milliseconds_of_processor_time: {
      taking_in: round(blocked.longestWork),
      listing: round(afterListing.longestWork),
    },
    stalled_client: { notices, megabytes: round(stalled / 1e6) },
  };
  writeResult(result, values.out);
} finally {
  for (const child of started) child.kill('SIGKILL');
  rmSync(home, { recursive: true, force: true });
}

async function printedOrigin(core: ChildProcess): Promise<string> {
  for await (const text of createInterface(core.stdout!)) {
    const found = /(http:\/\/127\.0\.0\.1:\d+)\//.exec(text);
    if (found) return found[1]!;
  }
  throw new Error('starpo serve exited.');
}

/** Loads the page with its scripts and styles, as a browser does. */
async function fetchPage(origin: string): Promise<void> {
  const get = async (path: string) => {
    const answer = await fetch(new URL(path, origin));
    if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
    return answer.text();
  };
  const html = await get('/');
  const files = [...html.matchAll(/(?:src|href)="(\.\/assets\/[^"]+)"/g)].map((match) => match[1]!);
  await Promise.all(files.map(get));
}

async function keyAt(origin: string) {
  return keyFromToken(readFileSync(join(home, 'token'), 'utf8').trim(), origin);
}

async function connect(origin: string): Promise<Client> {
  return createClient(await openWebSocket(origin, await keyAt(origin)));
}

/** Runs `starpo runs --json` as a client of the server. */
async function list(): Promise<{ runs: { id: string; iteration: number }[]; milliseconds: number }> {
  const begin = performance.now();
  const child = spawn(process.execPath, [join(root, 'core/host/cli.ts'), 'runs', '--json', '--home', home], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  for await (const piece of child.stdout) output += piece;
  return { runs: JSON.parse(output), milliseconds: performance.now() - begin };
}

/** Returns the bytes that core uses for a client that subscribed to everything and stopped reading, above the use without it. */
async function costOfStalledClient(core: Watched, client: Client, origin: string): Promise<number> {
  const journal = join(home, 'runs/run-0000/events.jsonl');
  let seq = readFileSync(journal, 'utf8').trimEnd().split('\n').length;
  const publishAll = async () => {
    for (let batch = 0; batch < 60; batch++)
      appendFileSync(journal, Array.from({ length: notices / 60 }, () => logLine(seq++)).join(''));
    const isLast = (after: number) => client.call('runs.events', { runId: 'run-0000', after });
    while ((await isLast(seq - 2)).length === 0) await pause(50);
    await pause(500);
    return core.report();
  };
  const without = await publishAll();

  class Pausable extends WebSocket {
    constructor(address: string, protocols: string[]) {
      super(address, protocols);
      sockets.push(this);
    }
  }
  const sockets: WebSocket[] = [];
  const channel = await openWebSocket(origin, await keyAt(origin), Pausable as unknown as SocketConstructor);
  const slow = createClient(channel);
  slow.on('log', () => {});
  slow.on('run', () => {});
  await slow.call('queue.list', {});
  sockets[0]!.pause();
  const withIt = await publishAll();
  sockets[0]!.terminate();
  return withIt.inUse - without.inUse;
}
