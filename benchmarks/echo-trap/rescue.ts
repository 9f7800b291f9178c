/**
 * Measures whether a roll-back saves a run. Trains each seed twice to the same iteration: alone, and with `automatic_action=rollback`, where core
 * rolls back at the warning and applies the advised change. Reports the mean success of the last ten iterations.
 * Usage: npm run benchmark:rescue -- [--preset starter-frozen-lake-trap] [--seeds 1,2,3,4,5] [--set key=value ...] [--workers 2] [--out FILE]
 */
import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { commandArguments, compactJson, machine } from '../machine.ts';
import { type Trained, trainWithActions } from './trained-run.ts';

const { values } = parseArgs({
  options: {
    preset: { type: 'string', default: 'starter-frozen-lake-trap' },
    seeds: { type: 'string', default: '1,2,3,4,5' },
    set: { type: 'string', multiple: true, default: [] },
    workers: { type: 'string', default: '2' },
    out: { type: 'string' },
  },
});
const changes = Object.fromEntries(values.set.map((each) => each.split(/=(.*)/s).slice(0, 2)));

const jobs = values.seeds
  .split(',')
  .map(Number)
  .flatMap((seed) => [
    { seed, action: 'notify' as const },
    { seed, action: 'rollback' as const },
  ]);
const done = new Map<number, Partial<Record<'notify' | 'rollback', Trained>>>();

/** Writes the results of seeds trained both ways so far, so that an interruption loses nothing. */
function keep(): void {
  const seeds = [...done]
    .sort(([a], [b]) => a - b)
    .flatMap(([seed, { notify, rollback }]) =>
      notify && rollback ? { seed, left_alone: notify, rolled_back: rollback } : [],
    );
  const summary = {
    seeds: seeds.length,
    higher_with_rollback: seeds.filter(({ left_alone, rolled_back }) => rolled_back.last_ten > left_alone.last_ten)
      .length,
    collapsed_when_left_alone: seeds.filter(({ left_alone }) => left_alone.label?.collapsed != null).length,
  };
  console.log(JSON.stringify(summary));
  const command = `npm run benchmark:rescue${commandArguments()}`;
  const result = { command, machine: machine(), summary, seeds };
  if (values.out) writeFileSync(resolve(values.out), `${compactJson(result)}\n`);
}

const waiting = [...jobs];
await Promise.all(
  Array.from({ length: Number(values.workers) }, async () => {
    for (let job = waiting.shift(); job; job = waiting.shift()) {
      const { seed, action } = job;
      const line = await trainWithActions(values.preset, { ...changes, seed, automatic_action: action });
      console.log(`seed ${seed}, ${action}: ${JSON.stringify(line)}`);
      done.set(seed, { ...done.get(seed), [action]: line });
      keep();
    }
  }),
);
