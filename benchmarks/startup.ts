/**
 * Measures the trainer's start: wall time from start to exit, as medians over alternating runs. The minimum excludes other load, and
 * `/bin/true` shows the cost of any process.
 * Usage: npm run benchmark:startup -- [--runs 50] [--out FILE]
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { commandArguments, machine, writeResult } from './machine.ts';

const { values } = parseArgs({
  options: { runs: { type: 'string', default: '50' }, out: { type: 'string' } },
});
const root = join(import.meta.dirname, '..');
const trainer = join(root, 'native/build/starpo-trainer');
const commands: Record<string, string[]> = {
  true: ['/bin/true'],
  help: [trainer, '--help'],
  devices: [trainer, 'devices'],
  validate: [trainer, 'validate', join(root, 'docs/formats/examples/run.json')],
};

function milliseconds([program, ...args]: string[]): number {
  const begin = performance.now();
  const { status, stderr } = spawnSync(program as string, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  const end = performance.now();
  if (status !== 0) throw new Error(`${program} ${args.join(' ')} failed: ${stderr}`);
  return end - begin;
}

const times = new Map(Object.keys(commands).map((name) => [name, [] as number[]]));
for (let run = 0; run < Number(values.runs); ++run)
  for (const [name, command] of Object.entries(commands)) times.get(name)?.push(milliseconds(command));

const round = (value: number | undefined) => Math.round((value ?? 0) * 10) / 10;
const results = Object.fromEntries(
  [...times].map(([name, all]) => {
    const sorted = all.toSorted((a, b) => a - b);
    return [
      name,
      {
        median: round(sorted[sorted.length >> 1]),
        shortest: round(sorted[0]),
        longest: round(sorted.at(-1)),
      },
    ];
  }),
);
const result = {
  command: `npm run benchmark:startup${commandArguments()}`,
  machine: machine(),
  runs: Number(values.runs),
  milliseconds: results,
};
writeResult(result, values.out);
