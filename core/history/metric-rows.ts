import type { HistoryDatabase } from './database.ts';
import { prepared } from './statements.ts';

/**
 * Metrics of one run that a batch of events adds. They are inserted metric by metric, in the order of the table: iteration by iteration, each row of
 * a run with thousands of metrics would change another page.
 */
export class MetricRows {
  private readonly database: HistoryDatabase;
  private readonly runId: string;
  /** Iterations and values by metric, in the order of the journal. */
  private readonly rows = new Map<string, { iterations: number[]; values: number[] }>();

  constructor(database: HistoryDatabase, runId: string) {
    this.database = database;
    this.runId = runId;
  }

  add(iteration: number, metrics: Record<string, number>): void {
    for (const name in metrics) {
      const column = this.rows.get(name) ?? { iterations: [], values: [] };
      this.rows.set(name, column);
      column.iterations.push(iteration);
      column.values.push(metrics[name]!);
    }
  }

  /** Inserts the rows. Call it before reading or deleting metrics, and at the end of the batch. */
  flush(): void {
    const insert = prepared(
      this.database,
      'INSERT OR REPLACE INTO metrics (run, name, iteration, value) VALUES (?, ?, ?, ?)',
    );
    for (const name of [...this.rows.keys()].sort()) {
      const { iterations, values } = this.rows.get(name)!;
      for (const [index, iteration] of iterations.entries()) insert.run(this.runId, name, iteration, values[index]!);
    }
    this.rows.clear();
  }
}
