/**
 * Measures core while it follows running jobs on a shared folder: a separate process appends to their journals once per second, as trainers on other
 * machines do, while a client is subscribed to everything that the pages show. Reports processor time of core and the longest block of its event loop.
 * Usage: npm run benchmark:following -- [--runs 200] [--seconds 60] [--out FILE]. Run `npm run build` first.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { commandArguments, machine, writeResult } from '../machine.ts';
import { clientOf, load, printedAddress } from './served.ts';

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

interface Report {
  longestBlock: number;
  longestWork: number;
}

/** Returns the processor time of a process with its ended children, in ms. */
function processorTime({ pid }: ChildProcess): number {
  const ticksPerSecond = 100;
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ');
  return ([11, 12, 13, 14].reduce((sum, at) => sum + Number(fields[at]), 0) * 1000) / ticksPerSecond;
}

async function report(core: ChildProcess): Promise<Report> {
  core.send('report');
  const [message] = await once(core, 'message');
  return message as Report;
}

/** Measures for some seconds. */
async function measure(core: ChildProcess) {
  await report(core);
  const [begin, before] = [performance.now(), processorTime(core)];
  await pause(seconds * 1000);
  const used = processorTime(core) - before;
  const passed = performance.now() - begin;
  const { longestBlock, longestWork } = await report(core);
  const round = (value: number) => Math.round(value * 10) / 10;
  return {
    percent_of_a_core: round((100 * used) / passed),
    longest_block_milliseconds: round(longestBlock),
    longest_block_milliseconds_of_processor_time: round(longestWork),
  };
}

try {
  const writer = spawn(process.execPath, [join(import.meta.dirname, 'growing-journals.ts'), home, String(count)], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  started.push(writer);
  await once(writer, 'message');
  const watch = ['--import', join(import.meta.dirname, 'watch-loop.ts')];
  const serve = [join(root, 'out/main/cli.cjs'), 'serve', '--port', '0', '--home', home];
  const core = spawn(process.execPath, [...watch, ...serve], { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] });
  started.push(core);
  const address = await printedAddress(core);
  const loadBefore = load();
  const client = await clientOf(home, address);
  const running = async () => (await client.call('runs.list', {})).filter(({ status }) => status === 'running').length;
  const idle = await measure(core);
  writer.send('start');
  while ((await running()) < count) await pause(500);
  const alone = await measure(core);
  let notices = 0;
  for (const name of ['run', 'alerts', 'echoTrap', 'queue'] as const) client.on(name, () => void notices++);
  await client.call('runs.list', {});
  const watched = await measure(core);
  if ((await client.call('runs.list', {})).some(({ status }) => status !== 'running'))
    throw new Error('A run was lost.');
  writeResult(
    {
      command: `npm run benchmark:following${commandArguments()}`,
      machine: machine(),
      load: { before: loadBefore, after: load() },
      runs: count,
      events_per_run: 'four phases per second, an iteration with 80 metrics and a rollout every 10 seconds',
      without_growing_journals: idle,
      without_an_open_page: alone,
      with_an_open_page: { ...watched, notices_per_second: Math.round(notices / seconds) },
    },
    values.out,
  );
} finally {
  for (const child of started) child.kill('SIGKILL');
  rmSync(home, { recursive: true, force: true, maxRetries: 10 });
}
