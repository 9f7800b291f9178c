/**
 * Writes run folders and, after a message, lets their journals grow as those of running trainers on other machines: each is synced once per second.
 * Usage: growing-journals.ts HOME RUNS
 */
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { baseConfig } from '../../core/presets/base.ts';
import { metrics } from './data-folder.ts';

const [home, runs] = process.argv.slice(2);
const count = Number(runs);
const phasesPerSecond = 4;
const secondsPerIteration = 10;
const iterations = 10_000;

const seqs = new Array<number>(count).fill(0);
const journals = seqs.map((_, index) => {
  const folder = join(home!, 'runs', `job-${String(index).padStart(3, '0')}`);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'run.json'), JSON.stringify({ ...baseConfig, iterations }));
  return join(folder, 'events.jsonl');
});

function line(index: number, type: string, fields: object): string {
  return `${JSON.stringify({ v: 1, seq: seqs[index]!++, time: Date.now(), type, ...fields })}\n`;
}

const begin = (index: number) =>
  line(index, 'started', {
    ...{ resume: null, pid: 2 ** 30, host: `node-${index}`, build: 'invented', isa: 'sm_90', device: 'cuda:0' },
    ...{ device_uuid: `GPU-${index}`, threads: 8, iterations, parameters: 494_032_768 },
  });

/** Appends the events of one second. `second`: since the run's start. */
function grow(index: number, second: number): void {
  const iteration = 1 + Math.floor(second / secondsPerIteration);
  const total = phasesPerSecond * secondsPerIteration;
  const done = (second % secondsPerIteration) * phasesPerSecond;
  const lines = Array.from({ length: phasesPerSecond }, (_, at) =>
    line(index, 'phase', { name: 'rollout', iteration, done: done + at + 1, total }),
  );
  if ((second + 1) % secondsPerIteration === 0) {
    const file = `rollouts/${String(iteration).padStart(6, '0')}.jsonl.zst`;
    lines.push(line(index, 'rollout', { iteration, split: 'train', file, episodes: 128 }));
    lines.push(line(index, 'iteration', { iteration, metrics: metrics(iteration, 80, index), updates: {} }));
  }
  appendFileSync(journals[index]!, lines.join(''));
}

process.once('message', () => {
  for (const [index, journal] of journals.entries()) {
    appendFileSync(journal, begin(index));
    // Spread over a second, with iterations that end at different times.
    let second = index % secondsPerIteration;
    setTimeout(() => setInterval(() => grow(index, second++), 1000), (1000 * index) / count);
  }
});
process.send!('ready');
