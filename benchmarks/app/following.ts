/**
 * Measures core while it follows running jobs on a shared folder: a separate process appends to their journals once per second, as trainers on other
 * machines do, while a client is subscribed to everything that the pages show. Reports processor time of core and the longest block of its event loop.
 * Usage: npm run benchmark:following -- [--runs 200] [--seconds 60] [--out FILE].
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { Client } from '../../core/contract/client.ts';
import { commandArguments, machine, writeResult } from '../machine.ts';
import { clientOf, end, load, printedAddress } from './served.ts';

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '200' },
    seconds: { type: 'string', default: '60' },
    out: { type: 'string' },
  },
});
const [count, seconds] = [Number(values.runs), Number(values.seconds)];
const root = join(import.meta.dirname, '../..');
const home = mkdtempSync(join(tmpdir(), 'starpo-benchmark-'));
const started: ChildProcess[] = [];

/** Returns the processor time of a process with its ended children, in ms. */
function processorTime({ pid }: ChildProcess): number {
  const ticksPerSecond = 100;
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
  return ([11, 12, 13, 14].reduce((sum, at) => sum + Number(fields[at]), 0) * 1000) / ticksPerSecond;
}

const round = (value: number) => Math.round(value * 10) / 10;

/** Starts core. `watched`: whether it also measures the blocks of its event loop, which takes two percent of a core. */
async function open(watched: boolean) {
  const watch = watched ? ['--import', join(import.meta.dirname, 'watch-loop.ts')] : [];
  const serve = [join(root, 'core/host/cli.ts'), 'serve', '--port', '0', '--home', home];
  const core = spawn(process.execPath, [...watch, ...serve], { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] });
  started.push(core);
  const client = await clientOf(home, await printedAddress(core));
  const running = async () => (await client.call('runs.list', {})).filter(({ status }) => status === 'running').length;
  return { core, client, running };
}

/** Returns the percentage of a processor core that the core process uses during the measured seconds. */
async function percentOfACore(core: ChildProcess): Promise<number> {
  const [begin, before] = [performance.now(), processorTime(core)];
  await pause(seconds * 1000);
  return round((100 * (processorTime(core) - before)) / (performance.now() - begin));
}

async function report(core: ChildProcess): Promise<{ longestBlock: number; longestWork: number }> {
  core.send('report');
  const [message] = await once(core, 'message');
  return message as { longestBlock: number; longestWork: number };
}

/** Subscribes to what the pages show of all runs. Returns a function that returns the number of notices. */
async function subscribe(client: Client): Promise<() => number> {
  let notices = 0;
  for (const name of ['run', 'alerts', 'queue', 'devices'] as const) client.on(name, () => void notices++);
  await client.call('runs.list', {});
  return () => notices;
}

try {
  const writer = spawn(process.execPath, [join(import.meta.dirname, 'growing-journals.ts'), home, String(count)], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  started.push(writer);
  await once(writer, 'message');
  const loadBefore = load();
  const measured = await open(false);
  const before = await percentOfACore(measured.core);
  writer.send('start');
  while ((await measured.running()) < count) await pause(500);
  // The first events start monitors.
  await pause(5000);
  const alone = await percentOfACore(measured.core);
  const notices = await subscribe(measured.client);
  const withPage = await percentOfACore(measured.core);
  const noticesPerSecond = Math.round(notices() / seconds);
  await end(measured.core);

  // The same measurement for an idle process, as a baseline.
  const options = ['--import', join(import.meta.dirname, 'watch-loop.ts'), '--eval', 'setInterval(() => {}, 1000)'];
  const idle = spawn(process.execPath, options, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  started.push(idle);
  const watched = await open(true);
  while ((await watched.running()) < count) await pause(500);
  await subscribe(watched.client);
  await Promise.all([report(watched.core), report(idle)]);
  await pause(seconds * 1000);
  const { longestBlock, longestWork } = await report(watched.core);
  const { longestBlock: longestOfIdle } = await report(idle);
  if ((await watched.running()) < count) throw new Error('A run is no longer followed.');
  writeResult(
    {
      command: `npm run benchmark:following${commandArguments()}`,
      machine: machine(),
      load: { before: loadBefore, after: load() },
      runs: count,
      events_per_run: 'four phases per second, an iteration with 80 metrics and a rollout every 10 seconds',
      percent_of_a_core: { before_the_runs_start: before, following: alone, following_with_an_open_page: withPage },
      notices_per_second: noticesPerSecond,
      longest_block_milliseconds: { of_core: round(longestBlock), of_an_idle_process: round(longestOfIdle) },
      longest_block_milliseconds_of_processor_time: round(longestWork),
    },
    values.out,
  );
} finally {
  for (const child of started) child.kill('SIGKILL');
  rmSync(home, { recursive: true, force: true, maxRetries: 10 });
}
