import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { ClusterJob } from '../../core/contract/cluster.ts';
import type { RunSummary } from '../../core/contract/contract.ts';
import type { Core } from '../../core/index.ts';
import { runFolder } from '../../core/run-directory/names.ts';
import { createHandlers } from '../../core/server/handlers.ts';
import type { SimulatedCluster } from '../core/fixtures/simulated-cluster.ts';
import { untilRun, World } from '../core/fixtures/world.ts';
import { tinySettings } from '../integration/tiny-run.ts';
import { root, trainer } from '../integration/trainer-process.ts';

export interface Attempt {
  type: 'begin' | 'end';
  restart: number;
  node: string;
  code?: number;
}

/** A data folder whose runs are submitted to a simulated cluster and trained by the real trainer. */
export class Site {
  readonly world = new World();
  readonly cluster: SimulatedCluster;
  private opened: { core: Core; handlers: ReturnType<typeof createHandlers> } | null = null;

  constructor(cluster: SimulatedCluster) {
    this.cluster = cluster;
  }

  get home(): string {
    return this.world.home;
  }

  /** Writes the target `slurm` with these settings. */
  target(settings: object = {}): void {
    const slurm = { type: 'slurm', time: '30', cpus: 1, trainer: this.trainerOnNode(), ...settings };
    writeFileSync(join(this.home, 'targets.json'), JSON.stringify({ version: 1, targets: { slurm } }));
  }

  async open(): Promise<Core> {
    // The app reads the states less often.
    const core = await this.world.core(trainer, { resources: join(root, 'resources'), slurm: { interval: 0 } });
    this.opened = { core, handlers: createHandlers(core) };
    return core;
  }

  get core(): Core {
    return this.opened!.core;
  }

  get handlers() {
    return this.opened!.handlers;
  }

  create(settings: Record<string, string | number> = {}): Promise<string> {
    const set = { ...tinySettings(this.home), ...settings };
    return this.core.runs.create({ preset: 'starter-frozen-lake', set });
  }

  folder = (runId: string): string => runFolder(this.home, runId);

  async submit(runId: string): Promise<string> {
    const { job } = (await this.handlers['cluster.submit']({ runId, target: 'slurm' })) as { job: string };
    return job;
  }

  /** Trains a run of these settings on this machine, without Slurm. Returns its folder. */
  async undisturbed(settings: Record<string, string | number>): Promise<string> {
    const runId = await this.create(settings);
    await this.core.runs.start(runId, 'cpu');
    await this.until(runId, ({ status }) => status === 'completed');
    return this.folder(runId);
  }

  /** Resolves once a run satisfies the condition; rejects if it fails before. */
  async until(runId: string, condition: (run: RunSummary) => boolean): Promise<RunSummary> {
    const run = await untilRun(this.core, runId, (each) => condition(each) || each.status === 'failed');
    if (!condition(run)) throw new Error(`${runId} failed: ${run.failure?.message}`);
    return run;
  }

  async job(runId: string): Promise<ClusterJob> {
    const [job] = await this.core.cluster.jobs.list([runId]);
    return job!;
  }

  /** Returns the words for a job until it satisfies the condition, each once. */
  async words(runId: string, condition: (job: ClusterJob) => boolean): Promise<string[]> {
    const words: string[] = [];
    for (const start = Date.now(); ; await pause(200)) {
      const job = await this.job(runId);
      const text = job.text.replace(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/, 'TIME');
      if (text !== words.at(-1)) words.push(text);
      if (condition(job)) return words;
      if (Date.now() - start > 300_000) throw new Error(`The job of ${runId} is stuck: ${words.join(' | ')}`);
    }
  }

  attempts(runId: string): Attempt[] {
    const text = readFileSync(join(this.folder(runId), 'attempts.jsonl'), 'utf8');
    return text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
  }

  async close(): Promise<void> {
    await this.world.close();
  }

  /** Returns a trainer that uses the CPU, because simulated GPUs can't compute, and has the node's name. */
  private trainerOnNode(): string {
    const path = join(this.world.folder, 'trainer-on-node');
    const name = 'echo "$SLURMD_NODENAME" > /proc/sys/kernel/hostname';
    writeFileSync(
      path,
      `#!/bin/sh\nexec unshare --uts sh -c '${name}; exec "$@"' sh ${trainer} train "$2" --device cpu\n`,
      { mode: 0o755 },
    );
    return path;
  }
}

export const slurm = (program: string, ...args: string[]) => execFileSync(program, args, { encoding: 'utf8' });

/** Waits until every node accepts jobs. */
export async function untilIdle(nodes: number): Promise<void> {
  while (spawnSync('sinfo', ['-h', '-t', 'idle', '-o', '%D'], { encoding: 'utf8' }).stdout.trim() !== String(nodes))
    await pause(200);
}
