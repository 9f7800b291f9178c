/**
 * What does the wall cost? 256 boards play on the page of a run that trains meanwhile, in headless Chromium; the browser's own trace says how long its main thread works
 * in each frame. Usage: npm run benchmark:wall -- [--preset starter-sokoban] [--seconds 30] [--out FILE]. `npm run build` must have made the page and the trainer.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { chromium } from 'playwright-core';
import { createClient } from '../../core/contract/client.ts';
import { Studio } from '../../core/host/studio.ts';
import { commandArguments, machine } from '../machine.ts';

const { values } = parseArgs({
  options: {
    preset: { type: 'string', default: 'starter-sokoban' },
    seconds: { type: 'string', default: '30' },
    out: { type: 'string' },
  },
});
const root = join(import.meta.dirname, '../..');
const home = mkdtempSync(join(tmpdir(), 'starpo-benchmark-'));
const studio = new Studio({
  home,
  resources: join(root, 'resources'),
  log: console.error,
  endpoint: { port: 0, webFolder: join(root, 'out/renderer') },
});
await studio.stay();
const client = createClient(await studio.open());
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM_PATH ?? '/usr/bin/chromium' });

try {
  const set = { 'rollout.groups': 16, 'rollout.group_size': 16, iterations: 1000 };
  const { runId } = await client.call('runs.create', { preset: values.preset, set, start: true });
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  page.setDefaultTimeout(600_000);
  await page.goto((await studio.endpoint()).address);
  await page.getByRole('heading', { level: 1 }).waitFor();
  await page.evaluate(`location.hash = '/run/${runId}'`);
  await page.getByRole('region', { name: 'Boards' }).getByText('Iteration').waitFor();
  const first = await iteration(runId);
  const loadBefore = loadavg()[0]!;
  await browser.startTracing(page, { categories: ['toplevel', 'devtools.timeline', '__metadata'] });
  await page.waitForTimeout(1000 * Number(values.seconds));
  const frames = framesOf(JSON.parse((await browser.stopTracing()).toString()));
  const last = await iteration(runId);
  await client.call('runs.command', { runId, command: 'stop' });

  const round = (value: number) => Math.round(value * 100) / 100;
  const quantiles = (of: number[]) => {
    const sorted = of.toSorted((a, b) => a - b);
    const at = (share: number) => round(sorted[Math.floor(share * (sorted.length - 1))] ?? Number.NaN);
    return { p50: at(0.5), p95: at(0.95), p99: at(0.99), most: at(1) };
  };
  const result = {
    command: `npm run benchmark:wall${commandArguments()}`,
    machine: machine(),
    load: { before: round(loadBefore), after: round(loadavg()[0]!) },
    boards: 256,
    iterations_meanwhile: last - first,
    frames: frames.length,
    milliseconds_of_main_thread_a_frame: quantiles(frames.map(({ wall }) => wall)),
    milliseconds_of_its_processor_time_a_frame: quantiles(frames.map(({ own }) => own)),
  };
  const text = `${JSON.stringify(result, null, 2)}\n`;
  if (values.out) writeFileSync(resolve(values.out), text);
  else console.log(text);
  await ended(runId);
} finally {
  await browser.close();
  await studio.close();
  rmSync(home, { recursive: true, force: true, maxRetries: 10 });
}

async function iteration(runId: string): Promise<number> {
  return (await client.call('runs.get', { runId })).summary.iteration;
}

async function ended(runId: string): Promise<void> {
  const isOver = (status: string) => status !== 'running';
  await new Promise<void>((resolve, reject) => {
    client.on('run', (run) => run.id === runId && isOver(run.status) && resolve());
    client.call('runs.get', { runId }).then(({ summary }) => isOver(summary.status) && resolve(), reject);
  });
}

interface TraceEvent {
  name: string;
  ph: string;
  pid: number;
  tid: number;
  /** Microseconds; `tdur`: of the thread's processor time. */
  ts: number;
  dur?: number;
  tdur?: number;
  args?: { name?: string };
}

/** The main thread's work from one animation frame to the next, ms: by the clock, and of its processor time. */
function framesOf({ traceEvents }: { traceEvents: TraceEvent[] }): { wall: number; own: number }[] {
  const perThread = Map.groupBy(traceEvents, ({ pid, tid }) => `${pid} ${tid}`);
  const isMain = (events: TraceEvent[]) =>
    events.some(({ name, args }) => name === 'thread_name' && args?.name === 'CrRendererMain') &&
    events.some(({ name }) => name === 'FireAnimationFrame');
  const main = [...perThread.values()].filter(isMain).sort((a, b) => b.length - a.length)[0] ?? [];
  const begins = main
    .filter(({ name }) => name === 'FireAnimationFrame')
    .map(({ ts }) => ts)
    .sort((a, b) => a - b);
  const frames = begins.map(() => ({ wall: 0, own: 0 }));
  for (const { name, ph, ts, dur = 0, tdur = 0 } of main) {
    if (ph !== 'X' || !name.endsWith('RunTask')) continue;
    const at = begins.findLastIndex((begin) => begin <= ts + dur);
    if (at < 0) continue;
    frames[at]!.wall += dur / 1000;
    frames[at]!.own += tdur / 1000;
  }
  // The last one wasn't over.
  return frames.slice(0, -1);
}
