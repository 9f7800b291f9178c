import type { Notices } from '../base/notices.ts';
import type { ApiError, RunStorage } from '../contract/contract.ts';
import { asFailure } from '../contract/failure.ts';
import { bytes } from '../contract/numbers.ts';
import { titleOf } from '../presets/form.ts';
import type { RunConfig } from '../run-config/schema.ts';
import { validateConfig } from '../run-config/validate.ts';
import { freeBytes, measureRun } from '../run-directory/measure.ts';
import type { Supervisor } from '../run-sync/supervisor.ts';
import type { Runs } from '../runs/runs.ts';
import { estimateRun } from './estimate.ts';

/** Minimum time between two automatic measurements of a run. */
const interval = 5000;
/** Share of the budget that raises a warning. */
const warningShare = 0.9;
/** Event types after which the size is measured again. */
const measuredTypes = ['rollout', 'rollout_removed', 'checkpoint', 'stopped', 'failed'];

interface StorageParts {
  runs: Runs;
  supervisor: Supervisor;
  notices: Notices;
  log: (message: string) => void;
}

/** Measures the disk use of runs, and warns if it approaches their budget or the free disk space. */
export class Storage {
  private readonly parts: StorageParts;
  private readonly timers = new Map<string, NodeJS.Timeout>();
  private readonly measuredAt = new Map<string, number>();
  private readonly stopEvents: () => void;
  private closed = false;

  constructor(parts: StorageParts) {
    this.parts = parts;
    this.stopEvents = parts.supervisor.events.on('journal', ({ runId, events }) => {
      if (events.some(({ type }) => measuredTypes.includes(type))) this.plan(runId);
    });
  }

  /** Throws `run_unknown`. */
  async of(runId: string): Promise<RunStorage> {
    const { runs } = this.parts;
    const { status } = runs.get(runId);
    const folder = runs.folder(runId);
    const config = await runs
      .config(runId)
      .then(validateConfig)
      .catch(() => undefined);
    const [measured, free] = await Promise.all([measureRun(folder), freeBytes(folder)]);
    const isFinal = status === 'completed' || config === undefined;
    const expected = isFinal ? null : await estimateRun(config, measured);
    const { rollouts, checkpoints, journal, other, total } = measured;
    const storage = {
      ...{ rollouts, checkpoints, journal, other, total, expected, free },
      budget: budgetOf(config),
    };
    return { ...storage, warnings: warningsOf(storage, measured.largestCheckpoint) };
  }

  close(): void {
    this.closed = true;
    this.stopEvents();
    for (const timer of this.timers.values()) clearTimeout(timer);
  }

  private plan(runId: string): void {
    if (this.closed || this.timers.has(runId)) return;
    const wait = Math.max(0, (this.measuredAt.get(runId) ?? 0) + interval - Date.now());
    this.timers.set(
      runId,
      setTimeout(() => void this.publish(runId), wait),
    );
  }

  private async publish(runId: string): Promise<void> {
    this.measuredAt.set(runId, Date.now());
    this.timers.delete(runId);
    try {
      const storage = await this.of(runId);
      if (!this.closed) this.parts.notices.emit('storage', { runId, storage });
    } catch (error) {
      // The run may have been deleted since.
      const failure = asFailure(error);
      if (!this.closed && failure.code !== 'run_unknown')
        this.parts.log(`Can't measure the disk use of ${runId}: ${failure.message}`);
    }
  }
}

function budgetOf(config: RunConfig | undefined): number | null {
  return config && config.storage.budget_gigabytes > 0 ? config.storage.budget_gigabytes * 1e9 : null;
}

function warningsOf(
  { total, budget, expected, free }: Omit<RunStorage, 'warnings'>,
  nextCheckpoint: number,
): ApiError[] {
  const warnings: ApiError[] = [];
  const shrink = `After the run has stopped, use “Free disk space” in its menu or in History. For the next run, increase “${titleOf('checkpoint.every')}” or “${titleOf('storage.budget_gigabytes')}”, or limit “${titleOf('rollout_files.keep_last')}”.`;
  if (budget !== null && total > budget) {
    warnings.push({
      code: 'storage_budget_passed',
      message: `The run uses ${bytes(total)}, more than its storage budget of ${bytes(budget)}.`,
      hint: shrink,
    });
  } else if (
    budget !== null &&
    (total > warningShare * budget || (expected !== null && total + nextCheckpoint > budget))
  ) {
    warnings.push({
      code: 'storage_budget_near',
      message: `The run uses ${bytes(total)} of its storage budget of ${bytes(budget)}. The next checkpoint may exceed it.`,
      hint: shrink,
    });
  }
  if (expected !== null && expected - total > free) {
    warnings.push({
      code: 'disk_space_low',
      message: `The run may need another ${bytes(expected - total)}, but only ${bytes(free)} of disk space is left.`,
      hint: 'Free disk space: a full disk ends the run. For the next run, write fewer checkpoints and rollouts, or choose a data folder on another disk (Settings page or --home).',
    });
  }
  return warnings;
}
