import Sqlite from 'better-sqlite3';
import { type InputFile, malformed, type Table, TableBuilder } from './table.ts';

/** MLflow's two stores: a folder with one file per metric, and the tables of its SQLite database. */

export interface MlflowRun {
  /** Path or id of the run. */
  id: string;
  name: string | null;
  table: Table;
}

/** Splits the path of a metric file: `EXPERIMENT/RUN/metrics/NAME`, where the name may have folders. */
const metricPath = /^(?:(.*)\/)?metrics\/(.+)$/;

/** A line of a metric file: time in ms, value and step. */
const metricLine = /^(\d{12,14}) (\S+) (-?\d+)(?: |$)/;

export const isMetricFile = ({ name, bytes }: InputFile) =>
  metricPath.test(name) && metricLine.test(bytes.subarray(0, 200).toString('latin1').split(/\r?\n/)[0]!);

/** Reads metric files, and the names of their runs from `meta.yaml`. */
export function readMetricFiles(files: readonly InputFile[], others: readonly InputFile[]): MlflowRun[] {
  const runs = Map.groupBy(files, ({ name }) => metricPath.exec(name)?.[1] ?? '');
  const metaOf = (id: string) =>
    others.find(({ name }) => name === (id === '' ? 'meta.yaml' : `${id}/meta.yaml`))?.bytes.toString('utf8') ?? '';
  const kept = [...runs].filter(([id]) => !/^lifecycle_stage: *['"]?deleted\b/m.test(metaOf(id)));
  return kept.map(([id, metrics]) => {
    const points = metrics.flatMap(({ name, bytes }) =>
      bytes
        .toString('utf8')
        .split(/\r?\n/)
        .flatMap((line) => {
          const [, time, value, step] = metricLine.exec(line) ?? [];
          const point = {
            name: metricPath.exec(name)![2]!,
            time: Number(time),
            value: Number(value),
            step: Number(step),
          };
          return step === undefined ? [] : [point];
        }),
    );
    const named = /^run_name: *['"]?(.*?)['"]? *$/m.exec(metaOf(id))?.[1];
    return { id, name: named || null, table: tableOf(metrics[0]!.name, points) };
  });
}

export const isSqlite = (bytes: Buffer) => bytes.subarray(0, 16).toString('latin1') === 'SQLite format 3\0';

interface Row {
  run_uuid: string;
  name: string | null;
  key: string;
  value: number;
  timestamp: number;
  step: number;
  is_nan: number;
}

/** Reads the runs of an MLflow database. Throws `import_malformed` if it is another database. */
export function readDatabase({ name, bytes }: InputFile): MlflowRun[] {
  const database = openCopy(name, bytes);
  try {
    const rows = database
      .prepare(
        `SELECT m.run_uuid, r.name, m.key, m.value, m.timestamp, m.step, m.is_nan
         FROM metrics m LEFT JOIN runs r ON r.run_uuid = m.run_uuid
         WHERE r.lifecycle_stage IS NOT 'deleted' ORDER BY m.run_uuid, m.step, m.timestamp`,
      )
      .all() as Row[];
    return [...Map.groupBy(rows, ({ run_uuid }) => run_uuid)].map(([id, points]) => ({
      id,
      name: points[0]!.name,
      table: tableOf(
        name,
        points.map(({ key, timestamp, value, step, is_nan }) => ({
          name: key,
          time: timestamp,
          // The store replaces infinity with the largest number.
          value: is_nan || Math.abs(value) >= Number.MAX_VALUE ? Number.NaN : value,
          step,
        })),
      ),
    }));
  } catch (error) {
    if (error instanceof Sqlite.SqliteError) throw malformed(name, `it is not an MLflow database (${error.message}).`);
    throw error;
  } finally {
    database.close();
  }
}

/** Opens a copy of the database in memory, so that the file stays unchanged and no other file can be attached. */
function openCopy(name: string, bytes: Buffer) {
  try {
    const database = new Sqlite(bytes);
    database.pragma('trusted_schema = OFF');
    return database;
  } catch (error) {
    throw malformed(name, `SQLite can't read it (${(error as Error).message}).`);
  }
}

interface Point {
  name: string;
  time: number;
  value: number;
  step: number;
}

function tableOf(file: string, points: readonly Point[]): Table {
  const builder = new TableBuilder(file);
  for (const { name, time, value, step } of points) {
    // MLflow's own metrics of the machine, whose steps count its samples.
    if (name.startsWith('system/')) continue;
    const row = builder.rowOf(step, 'timestamp', time);
    builder.column(name).add(row, value);
  }
  return builder.build();
}
