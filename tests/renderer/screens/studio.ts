import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Client, createClient } from '../../../core/contract/client.ts';
import type { RunSummary } from '../../../core/contract/contract.ts';
import { appendAnnotation } from '../../../core/run-directory/annotations.ts';
import * as journal from '../../core/fixtures/journal.ts';
import { fakeTrainer, root, World } from '../../core/fixtures/world.ts';

const shape = {
  'rollout.groups': 8,
  'rollout.group_size': 16,
  'policy_loss.mini_batch': 16,
  'evaluation.every': 20,
};

/** Serves the app on its own data folder with the fake trainer. */
export class Served {
  readonly runs: Record<string, string> = {};
  readonly address: string;
  private readonly world: World;
  private readonly client: Client;
  private slept = 0;

  private constructor(world: World, client: Client, address: string) {
    this.world = world;
    this.client = client;
    this.address = address;
  }

  /** `sample` adds the sample run's bundle to the resources. */
  static async start(trainerPath = fakeTrainer, sample?: string): Promise<Served> {
    const world = new World();
    if (sample) copyFileSync(sample, join(world.resources, 'sample.starpo.zip'));
    let served: Served | null = null;
    const studio = await world.studio({
      trainerPath,
      endpoint: { port: 0, webFolder: join(root, 'out/renderer') },
      clock: () => performance.now() + (served?.slept ?? 0),
    });
    const client = createClient(await studio.open());
    served = new Served(world, client, (await studio.endpoint()).address);
    return served;
  }

  /** A folder for temporary files. */
  get folder(): string {
    return this.world.folder;
  }

  /** Creates a run; `set` are edits of its preset. */
  async make(name: string, preset: string, set: Record<string, string | number> = {}): Promise<string> {
    const { runId } = await this.client.call('runs.create', {
      preset,
      set: { ...shape, ...set },
      start: false,
    });
    this.runs[name] = runId;
    return runId;
  }

  /** Trains a run until a condition holds, with instructions for the fake trainer. */
  async train(runId: string, trainer: object, until: (run: RunSummary) => boolean): Promise<void> {
    for (const [key, value] of Object.entries(trainer)) process.env[`FAKE_TRAINER_${key}`] = String(value);
    await this.client.call('runs.start', { runId });
    await this.until(runId, until);
    for (const key of Object.keys(trainer)) delete process.env[`FAKE_TRAINER_${key}`];
  }

  async until(runId: string, condition: (run: RunSummary) => boolean): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const stop = this.client.on('run', (run) => look(run));
      const look = (run: RunSummary) => {
        if (run.id !== runId || !condition(run)) return;
        stop();
        resolve();
      };
      this.client.call('runs.get', { runId }).then(({ summary }) => look(summary), reject);
    });
  }

  call: Client['call'] = (name, input) => this.client.call(name, input);

  /** A folder that the fake trainer accepts as a model. */
  putModel(name: string): void {
    const folder = join(this.world.home, 'models', name);
    mkdirSync(folder, { recursive: true });
    for (const file of ['config.json', 'tokenizer.json', 'model.safetensors']) writeFileSync(join(folder, file), '{}');
  }

  /** A sweep with one complete and one half complete setting, with invented results. */
  async study(): Promise<string> {
    const points = ['clip 0.2', 'clip 0.28', 'clip 0.4'].map((name, index) => ({
      name,
      set: { 'policy_loss.clip_high': [0.2, 0.28, 0.4][index]! },
    }));
    const seeds = [1, 2, 3, 4, 5];
    const { id } = await this.call('studies.create', {
      ...{ name: 'How wide a clip', base: { preset: 'starter-frozen-lake-grpo' }, points, seeds },
    });
    for (const [point] of points.entries()) {
      for (const seed of seeds.slice(0, [5, 5, 2][point])) {
        const run = `${id}-p${point + 1}-s${seed}`;
        const after = 0.55 + 0.1 * point + 0.08 * Math.sin(7 * seed + point);
        this.world.run(run, [
          journal.started(0),
          journal.evaluation(1, 0, 0.35 + 0.02 * Math.cos(3 * seed)),
          ...Array.from({ length: 120 }, (_, at) => journal.iteration(2 + at, at + 1, 0.4 + at / 500)),
          journal.evaluation(122, 120, after),
          journal.stopped(123, 120),
        ]);
        await this.call('runs.adopt', { runId: run });
      }
    }
    return id;
  }

  /** A run with this journal. */
  put(runId: string, lines: readonly string[]): void {
    this.world.run(runId, lines);
  }

  raise(runId: string, message: string): void {
    const alert = { kind: 'entropy_falling', severity: 'warning', iteration: 81, message } as const;
    const folder = join(this.world.home, 'runs', runId);
    appendAnnotation(folder, { type: 'alert', alert: 'a', state: 'raised', ...alert });
  }

  /** Advances the watchdog's clock by an hour. */
  sleep(): void {
    this.slept += 3_600_000;
  }

  async close(): Promise<void> {
    for (const { id, status } of await this.client.call('runs.list', {})) {
      if (status !== 'running' && status !== 'paused') continue;
      await this.client.call('runs.command', { runId: id, command: 'stop' });
      await this.until(id, (run) => run.status === 'stopped');
    }
    await this.world.close();
  }
}

/** Creates a data folder with runs in all states. */
export async function busyStudio(): Promise<Served> {
  const served = await Served.start();
  const { call } = served;
  const completed = ({ status }: RunSummary) => status === 'completed';
  await served.make('created', 'starter-frozen-lake');
  const stopped = await served.make('stopped', 'starter-frozen-lake');
  await served.train(stopped, { HOLD: 20 }, ({ iteration }) => iteration === 20);
  await call('runs.command', { runId: stopped, command: 'stop' });
  await served.until(stopped, ({ status }) => status === 'stopped');
  await call('runs.annotate', { runId: stopped, archived: true });
  const interrupted = await served.make('interrupted', 'starter-frozen-lake-grpo');
  await served.train(interrupted, { DIE: 30 }, ({ status }) => status === 'interrupted');
  const failed = await served.make('failed', 'starter-frozen-lake');
  await served.train(failed, { FAIL: 12 }, ({ status }) => status === 'failed');
  await served.train(await served.make('sokoban', 'starter-sokoban', { iterations: 20 }), {}, completed);
  const bandit = await served.make('bandit', 'starter-bandit');
  await served.train(bandit, {}, completed);
  const note = 'The one in the report.';
  await call('runs.annotate', { runId: bandit, starred: true, addTags: ['baseline', 'seed 1'], note });
  const paused = await served.make('paused', 'starter-frozen-lake-slippery');
  await served.train(paused, { HOLD: 41 }, ({ iteration }) => iteration === 41);
  await call('runs.command', { runId: paused, command: 'pause' });
  const budget = { iterations: 200, 'storage.budget_gigabytes': 0.001 };
  const lake = await served.make('lake', 'starter-frozen-lake', budget);
  await served.train(lake, { HOLD: 87 }, ({ iteration }) => iteration === 87);
  for (const preset of ['starter-bandit', 'starter-frozen-lake-slippery'])
    await call('queue.add', { runId: await served.make(`queued-${preset}`, preset) });
  return served;
}

/** Creates the same with names, tags, a note and a run in the trash. */
export async function libraryStudio(): Promise<Served> {
  const served = await busyStudio();
  const { runs, call } = served;
  await call('runs.annotate', {
    ...{ runId: runs.sokoban!, name: 'Boxes, twice the learning rate, and a very long name' },
    addTags: ['boxes', 'lr 2e-4', 'second try', 'for the report'],
    note: 'Learned to push along the wall first.',
  });
  await call('runs.delete', { runIds: [runs.created!] });
  const sweep = { name: 'Group sizes', base: { preset: 'starter-bandit' }, points: [{ name: 'preset', set: {} }] };
  const { id } = await call('studies.create', { ...sweep, seeds: [1, 2], start: false });
  await call('studies.delete', { studyId: id, runs: false });
  return served;
}

/** Creates a stalled trainer, a full disk, and an alert. */
export async function warnedStudio(): Promise<Served> {
  const served = await Served.start();
  const runId = await served.make('lake', 'starter-frozen-lake', { 'storage.budget_gigabytes': 0.0001 });
  await served.train(runId, { HOLD: 20 }, ({ iteration }) => iteration === 20);
  served.raise(runId, 'The entropy fell by half within ten iterations.');
  served.sleep();
  await served.until(runId, (run) => run.stalled !== null);
  return served;
}

/** Creates a data folder with a GPU and a published model. */
export async function equippedStudio(): Promise<Served> {
  const served = await Served.start();
  served.putModel('Qwen2.5-0.5B-Instruct');
  const runId = await served.make('planned', 'qwen2.5-0.5b-sokoban', { iterations: 2 });
  await served.train(runId, {}, ({ status }) => status === 'completed');
  return served;
}
