/**
 * Measures how busy the queue keeps four simulated GPUs with 12 runs of a test double of the trainer, while one GPU fails, one queued run is removed, and
 * the app is killed and started again. The share counts the working GPUs from the first start of a run to the last. A
 * working GPU without a trainer is idle. Usage: npm run benchmark:pool -- [--seconds 20] [--out FILE]
 */
import { deepStrictEqual } from 'node:assert';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { starpo } from '../tests/core/fixtures/child.ts';
import { World } from '../tests/core/fixtures/world.ts';
import { load } from './app/served.ts';
import { commandArguments, machine, writeResult } from './machine.ts';

const { values } = parseArgs({ options: { seconds: { type: 'string', default: '20' }, out: { type: 'string' } } });
const seconds = Number(values.seconds);
const iterations = 10;
const [gpus, broken] = [4, 'cuda:2'];
const delay = String((1000 * seconds) / iterations);
const fake = { GPU: String(80 * 2 ** 30), GPUS: String(gpus), BROKEN: broken, DELAY: delay };
for (const [name, value] of Object.entries(fake)) process.env[`FAKE_TRAINER_${name}`] = value;

interface Event {
  type: string;
  time: number;
  device: string;
}

const world = new World();
try {
  const set = { iterations, 'rollout.groups': 1, 'rollout.group_size': 4, 'policy_loss.mini_batch': 4, device: 'auto' };
  const planning = await world.core();
  const ids: string[] = [];
  for (let run = 0; run < 12; run++) ids.push(await planning.runs.create({ preset: 'starter-frozen-lake', set }));
  for (const id of ids) planning.queue.add(id);
  await planning.dispose();
  const loadBefore = load();

  const eventsOf = (id: string): Event[] => {
    const journal = join(world.home, 'runs', id, 'events.jsonl');
    return (existsSync(journal) ? readFileSync(journal, 'utf8') : '')
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line));
  };
  const has = (id: string, type: string) => eventsOf(id).some((event) => event.type === type);
  const removed = ids[11]!;
  let app = starpo(['queue', 'run'], world.environment());
  while (!ids.slice(0, gpus).every((id) => has(id, 'iteration'))) await pause(100);
  await starpo(['queue', 'remove', removed], world.environment()).finished;
  app.kill('SIGKILL');
  await app.finished;
  app = starpo(['queue', 'run'], world.environment());
  const trained = ids.filter((id) => id !== removed);
  while (!trained.every((id) => has(id, 'stopped'))) await pause(500);
  app.kill('SIGTERM');
  await app.finished;

  const spans = trained.flatMap((id) => {
    const events = eventsOf(id).filter(({ type }) => ['started', 'stopped', 'failed'].includes(type));
    return events.flatMap(({ type, device, time }, index) =>
      type === 'started' ? [{ id, device, from: time, to: events[index + 1]!.time, end: events[index + 1]!.type }] : [],
    );
  });
  const completed = spans.filter(({ end }) => end === 'stopped').map(({ id }) => id);
  deepStrictEqual(completed.sort(), trained.sort());
  const failures = spans.filter(({ end }) => end === 'failed');
  deepStrictEqual(
    failures.map(({ device }) => device),
    [broken],
  );
  deepStrictEqual(eventsOf(removed), []);

  const working = spans.filter(({ device }) => device !== broken);
  const [first, last] = [Math.min(...working.map(({ from }) => from)), Math.max(...working.map(({ from }) => from))];
  const busy = working.reduce((sum, { from, to }) => sum + Math.min(to, last) - from, 0);
  const gaps = working.flatMap(({ device, to }) => {
    const next = working.filter((other) => other.device === device && other.from >= to).map(({ from }) => from - to);
    return next.length > 0 ? [Math.min(...next)] : [];
  });
  writeResult(
    {
      command: `npm run benchmark:pool${commandArguments()}`,
      machine: machine(),
      load: { before: loadBefore, after: load() },
      gpus,
      seconds_per_run: seconds,
      runs: { trained: completed.length, removed: 1, started_again_after_the_failure_of_a_gpu: failures.length },
      share_of_time_in_which_working_gpus_are_busy: Number((busy / ((gpus - 1) * (last - first))).toFixed(3)),
      milliseconds_between_two_runs: {
        longest: Math.max(...gaps),
        median: gaps.sort((a, b) => a - b)[gaps.length >> 1],
      },
    },
    values.out,
  );
} finally {
  await world.close();
}
