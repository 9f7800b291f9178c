/**
 * Measures what an automatic roll-back gains and costs. Trains each setting of run-list.json twice with the same seed to the same iteration, with
 * `automatic_action` notify and rollback, and compares the success of the last ten iterations. A run that is never rolled back is trained once. Takes hours; can be stopped and continued.
 * Running held-out settings counts as an opening of the held-out part (README.md): record it before reading the results.
 * Usage: npm run benchmark:reactions -- [--part held-out] [--only PATTERN] [--seeds 2] [--set key=value ...] [--workers 1] [--into FOLDER] [--out FILE]
 */
import { setPriority } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { commandArguments, machine, writeResult } from '../machine.ts';
import { type Pair, summarize } from './reactions-summary.ts';
import { finishedJob, type Job, runJobs } from './resumable.ts';
import list from './run-list.json' with { type: 'json' };
import { type Trained, trainWithActions } from './trained-run.ts';

const { values } = parseArgs({
  options: {
    part: { type: 'string', default: 'held-out' },
    only: { type: 'string', default: '' },
    /** Seeds per family. */
    seeds: { type: 'string', default: '2' },
    set: { type: 'string', multiple: true, default: [] },
    workers: { type: 'string', default: '1' },
    /** Results of single runs. */
    into: { type: 'string', default: join(import.meta.dirname, 'reactions') },
    out: { type: 'string' },
  },
});
setPriority(19);

const actions = ['rollback', 'notify'] as const;
const changes = Object.fromEntries(values.set.map((each) => each.split(/=(.*)/s).slice(0, 2)));

/** Checkpoints to roll back to, and no evaluations, which take half of the time; the labels then follow rollouts. */
const common = { ...list.common, 'checkpoint.every': 10, 'evaluation.every': 0 };

const settings = list.families
  .filter(({ name, part }) => part === values.part && new RegExp(values.only).test(name))
  .flatMap(({ name, preset, iterations, seeds, set }) =>
    seeds.slice(0, Number(values.seeds)).map((seed, round) => ({
      ...{ family: name, seed, round, preset },
      set: { ...common, 'levels.train_seed': 50_000_000 + 100_000 * seed, iterations, seed, ...set, ...changes },
    })),
  )
  // The first seed of every family comes first, so that partial results cover all families.
  .sort((a, b) => a.round - b.round);

const nameOf = (family: string, seed: number, action: string) => `${family}-seed-${seed}-${action}`;

const jobs = settings.flatMap(({ family, seed, preset, set }) =>
  actions.map(
    (action): Job<Trained> => ({
      name: nameOf(family, seed, action),
      async run() {
        // Without a roll-back, both runs are the same to the bit.
        const rolledBack = finishedJob<Trained>(values.into, nameOf(family, seed, 'rollback'));
        if (action === 'notify' && rolledBack?.rollbacks.length === 0) return rolledBack;
        return trainWithActions(preset, { ...set, automatic_action: action });
      },
    }),
  ),
);

function write(): void {
  const pairs = settings.flatMap(({ family, seed }): Pair[] => {
    const [rollback, notify] = actions.map((action) => finishedJob<Trained>(values.into, nameOf(family, seed, action)));
    return notify && rollback ? [{ family, seed, notify, rollback }] : [];
  });
  const command = `npm run benchmark:reactions${commandArguments()}`;
  const result = { command, machine: machine(), settings: settings.length, summary: summarize(pairs), pairs };
  if (values.out) writeResult(result, values.out);
  else console.log(JSON.stringify(result.summary));
}

await runJobs(jobs, { folder: values.into, workers: Number(values.workers), onResult: write });
write();
