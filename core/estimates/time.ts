import { readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { basename, join } from 'node:path';
import type { TimeEstimate } from '../contract/contract.ts';
import type { HistoryDatabase } from '../history/database.ts';
import { listRuns, type RunRow } from '../history/runs-table.ts';
import { preparedValue } from '../history/statements.ts';
import type { RunConfig } from '../run-config/schema.ts';
import { upgradeConfig } from '../run-config/upgrade.ts';
import { runFiles, runFolder } from '../run-directory/names.ts';
import { isLocal } from '../run-sync/liveness.ts';
import { evaluationSeconds, iterationSeconds, speedup } from './typical.ts';

/** Maximum number of runs to measure, and of their last iterations. */
const maxRuns = 5;
const window = 20;
/** Maximum number of runs to read, because a data folder may contain thousands. */
const maxCandidates = 40;
/** Minimum number of iterations, because the first is slower. */
const minIterations = 3;

/** A measured run. `ratio` is its time relative to the typical time. */
interface Measured {
  /** Environment types. */
  types: string;
  ratio: number;
}

/**
 * Estimates the time of a run on this machine from its earlier runs of the same model on the same kind of device, preferably in the same
 * environments. Without any, uses typical figures if the model is the starter on a CPU.
 */
export class TimeEstimates {
  private readonly home: string;
  private readonly database: HistoryDatabase;
  private readonly cores = cpus().length;
  private readonly configs = new Map<string, RunConfig | null>();

  constructor({ home, database }: { home: string; database: HistoryDatabase }) {
    this.home = home;
    this.database = database;
  }

  /** Returns a function that estimates times. It reads earlier runs once, for any number of configurations. */
  estimator(): (config: RunConfig) => TimeEstimate | null {
    const measured = new Map<string, Measured[]>();
    return (config) => {
      const kind = kindOf(config);
      const runs = measured.get(kind) ?? this.measure(kind);
      measured.set(kind, runs);
      return this.estimate(config, runs);
    };
  }

  private estimate(config: RunConfig, measured: readonly Measured[]): TimeEstimate | null {
    const first = config.start.run === '' ? 0 : config.start.checkpoint;
    const iterations = Math.max(0, config.iterations - first);
    const work = iterations * iterationSeconds(config) + evaluationSeconds(config);
    if (work === 0) return null;
    const similar = measured.filter(({ types }) => types === typesOf(config));
    const chosen = (similar.length > 0 ? similar : measured).slice(0, maxRuns);
    const typical = work / speedup(config.threads, this.cores);
    if (chosen.length > 0)
      return {
        seconds: typical * median(chosen.map(({ ratio }) => ratio)),
        basis: 'measured',
        runs: chosen.length,
      };
    return isStarter(config) && config.device === 'cpu' ? { seconds: typical, basis: 'typical', runs: 0 } : null;
  }

  /** Returns comparable runs, newest first. */
  private measure(kind: string): Measured[] {
    const gpu = !kind.startsWith('cpu');
    return listRuns(this.database)
      .filter((row) => isLocal(row) && row.iteration >= minIterations && (row.device !== 'cpu') === gpu)
      .slice(0, maxCandidates)
      .flatMap((row) => this.ratioOf(row, kind) ?? []);
  }

  private ratioOf(row: RunRow, kind: string): Measured | null {
    const config = this.configOf(row.id);
    if (!config || kindOf(config) !== kind) return null;
    const seconds = preparedValue<[string, string, number], number>(
      this.database,
      'SELECT value FROM metrics WHERE run = ? AND name = ? ORDER BY iteration DESC LIMIT ?',
    ).all(row.id, 'time/iteration', window);
    const typical = iterationSeconds(config) / speedup(config.threads, this.cores);
    if (seconds.length < minIterations || typical === 0) return null;
    return { types: typesOf(config), ratio: median(seconds) / typical };
  }

  /** Caches configurations, because run.json never changes. Returns null for an unreadable or incomplete one. */
  private configOf(runId: string): RunConfig | null {
    const cached = this.configs.get(runId);
    if (cached !== undefined) return cached;
    let config: RunConfig | null = null;
    try {
      const text = readFileSync(join(runFolder(this.home, runId), runFiles.config), 'utf8');
      config = upgradeConfig(JSON.parse(text)).config as RunConfig;
      // These throw if the configuration is incomplete.
      iterationSeconds(config);
      kindOf(config);
    } catch {
      config = null;
    }
    this.configs.set(runId, config);
    return config;
  }
}

/** Groups runs of comparable speed. A checkpoint has the size of its own run, which the folder's name does not show. */
function kindOf(config: RunConfig): string {
  const device = config.device === 'cpu' ? 'cpu' : 'gpu';
  const model = isStarter(config) ? 'starter' : basename(config.start.model);
  return `${device} ${model} ${config.precision}`;
}

const isStarter = ({ preset, start }: RunConfig) =>
  preset.startsWith('starter') && (basename(start.model) === 'starter' || start.run !== '');

const typesOf = ({ environments }: RunConfig) => environments.map(({ type }) => type).join();

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[sorted.length >> 1]!;
}
