import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { availableCores } from '../base/limits.ts';
import type { TimeEstimate } from '../contract/contract.ts';
import { devicesFor } from '../contract/run-facts.ts';
import type { HistoryDatabase } from '../history/database.ts';
import { lastMachine } from '../history/queries.ts';
import { listRuns, type RunRow } from '../history/runs-table.ts';
import type { RunConfig } from '../run-config/schema.ts';
import { firstIteration } from '../run-config/start.ts';
import { upgradeConfig } from '../run-config/upgrade.ts';
import { runFiles, runFolder } from '../run-directory/names.ts';
import { isLocal } from '../run-sync/liveness.ts';
import type { Trainer } from '../trainer/trainer.ts';
import { evaluationSeconds, iterationSeconds, speedup } from './typical.ts';
import { newestIterations, trainerSpans, undisturbedSeconds } from './undisturbed.ts';

/** Maximum number of runs to measure, and of newest iterations per run. */
const maxRuns = 5;
const window = 40;
/** Maximum number of runs to read, because a data folder may contain thousands. */
const maxCandidates = 40;
/** Minimum number of iterations, because the first is slower. */
const minIterations = 3;

/** Half the width of a range relative to the estimate: the minimum, and the one for typical figures. */
const minSpread = 0.15;
const typicalSpread = 0.5;

/** A measured run. `ratios` are the times of its iterations relative to the typical time. */
interface Measured {
  /** Environment types. */
  types: string;
  /** Vendor's name of the device; null in a journal of an older trainer. */
  device: string | null;
  ratios: number[];
}

interface EstimatesParts {
  home: string;
  database: HistoryDatabase;
  trainer: Pick<Trainer, 'lastDevices'>;
}

/**
 * Estimates the time of a run on this machine from its earlier runs of the same model on the same device model, preferably in the same
 * environments. Ignores iterations during which another run used the device. Without any, uses typical figures if the model is the starter on a
 * CPU. The range contains the middle half of the measured iterations.
 */
export class TimeEstimates {
  private readonly home: string;
  private readonly database: HistoryDatabase;
  private readonly trainer: EstimatesParts['trainer'];
  private readonly cores = availableCores();
  private readonly configs = new Map<string, RunConfig | null>();
  private readonly iterations = new Map<string, { seq: number; newest: ReturnType<typeof newestIterations> }>();

  constructor({ home, database, trainer }: EstimatesParts) {
    this.home = home;
    this.database = database;
    this.trainer = trainer;
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
    const iterations = Math.max(0, config.iterations - firstIteration(config));
    const work = iterations * iterationSeconds(config) + evaluationSeconds(config);
    if (work === 0) return null;
    const names = this.deviceNames(config.device);
    const comparable = measured.filter(({ device }) => device === null || names.length === 0 || names.includes(device));
    const similar = comparable.filter(({ types }) => types === typesOf(config));
    const chosen = (similar.length > 0 ? similar : comparable).slice(0, maxRuns);
    const typical = work / speedup(config.threads, this.cores);
    if (chosen.length > 0) {
      const ratios = chosen.flatMap(({ ratios }) => ratios).sort((a, b) => a - b);
      const [low, middle, high] = [0.25, 0.5, 0.75].map((share) => typical * quantile(ratios, share));
      return { ...rangeOf(middle!, minSpread, low, high), basis: 'measured', runs: chosen.length };
    }
    if (!isStarter(config) || config.device !== 'cpu') return null;
    return { ...rangeOf(typical, typicalSpread), basis: 'typical', runs: 0 };
  }

  /** Returns the vendor's names of the devices that a setting may select; none before the devices were read. */
  private deviceNames(setting: string): string[] {
    const usable = this.trainer.lastDevices?.devices.filter(({ available }) => available) ?? [];
    return devicesFor(setting, usable).map(({ name }) => name);
  }

  /** Returns runs of the same kind, newest first. */
  private measure(kind: string): Measured[] {
    const gpu = !kind.startsWith('cpu');
    const local = listRuns(this.database).filter((row) => isLocal(row) && (row.device !== 'cpu') === gpu);
    const candidates = local.filter((row) => row.iteration >= minIterations).slice(0, maxCandidates);
    const oldest = Math.min(...candidates.map(({ created_at }) => created_at));
    const spans = trainerSpans(
      this.database,
      local.filter(({ last_time }) => (last_time ?? 0) >= oldest),
    );
    return candidates.flatMap((row) => this.ratiosOf(row, kind, spans) ?? []);
  }

  private ratiosOf(row: RunRow, kind: string, spans: ReturnType<typeof trainerSpans>): Measured | null {
    const config = this.configOf(row.id);
    if (!config || kindOf(config) !== kind) return null;
    const seconds = undisturbedSeconds(this.iterationsOf(row), row.id, spans);
    const typical = iterationSeconds(config) / speedup(config.threads, this.cores);
    if (seconds.length < minIterations || typical === 0) return null;
    const device = lastMachine(this.database, row.id)?.name ?? null;
    return { types: typesOf(config), device, ratios: seconds.map((each) => each / typical) };
  }

  /** Caches iterations until the run has a new event, because a form is estimated at every edit. */
  private iterationsOf({ id, last_seq }: RunRow): ReturnType<typeof newestIterations> {
    const cached = this.iterations.get(id);
    if (cached?.seq === last_seq) return cached.newest;
    const newest = newestIterations(this.database, id, window);
    this.iterations.set(id, { seq: last_seq, newest });
    return newest;
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

/** Groups runs of comparable speed by device, model and precision. A run that starts from a checkpoint's folder is not grouped with the starter, because the folder's name does not show the size of the model. */
function kindOf(config: RunConfig): string {
  const device = config.device === 'cpu' ? 'cpu' : 'gpu';
  const model = isStarter(config) ? 'starter' : basename(config.start.model);
  return `${device} ${model} ${config.precision}`;
}

const isStarter = ({ preset, start }: RunConfig) =>
  preset.startsWith('starter') && (/^starter(-shop)?$/.test(basename(start.model)) || start.run !== '');

const typesOf = ({ environments }: RunConfig) => environments.map(({ type }) => type).join();

/** Returns a range around an estimate, at least as wide as `spread` on each side. */
function rangeOf(seconds: number, spread: number, low = seconds, high = seconds) {
  return { low: Math.min(low, seconds * (1 - spread)), seconds, high: Math.max(high, seconds * (1 + spread)) };
}

/** Returns a quantile of sorted values. */
function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]!;
}
