import type { HistoryDatabase } from '../history/database.ts';
import { readMemoryPlan } from '../history/queries.ts';
import { deviceBytes, driverBytes } from '../presets/device-memory.ts';
import type { ModelShape } from '../presets/published.ts';
import type { RunConfig } from '../run-config/schema.ts';
import type { Trainer } from '../trainer/trainer.ts';

/** Determines the GPU memory of runs: from the trainer's plan if a run has been started on a GPU, otherwise by an estimate. */
export class MemoryNeeds {
  private readonly database: HistoryDatabase;
  private readonly trainer: Pick<Trainer, 'inspect'>;
  private readonly shapes = new Map<string, ModelShape | null>();

  constructor({ database, trainer }: { database: HistoryDatabase; trainer: Pick<Trainer, 'inspect'> }) {
    this.database = database;
    this.trainer = trainer;
  }

  /** Returns the GPU memory of a run in bytes; null if it is unknown, as for a model that can't be read. */
  async of(runId: string, config: RunConfig): Promise<number | null> {
    const planned = this.planned(runId);
    if (planned !== null) return planned;
    const shape = await this.shapeOf(config.start.model);
    return shape && deviceBytes(config, shape);
  }

  /** Returns the memory that a trainer has planned; null if none has. */
  planned(runId: string): number | null {
    const plan = readMemoryPlan(this.database, runId);
    return plan?.device.startsWith('cuda') ? plan.total_bytes + driverBytes : null;
  }

  private async shapeOf(folder: string): Promise<ModelShape | null> {
    const cached = this.shapes.get(folder);
    if (cached !== undefined) return cached;
    // The start of the run reports why a model can't be read.
    const shape = await this.trainer.inspect(folder).then(
      (model) => model.shape ?? null,
      () => null,
    );
    this.shapes.set(folder, shape);
    return shape;
  }
}
