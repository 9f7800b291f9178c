import { isTfRecord } from '../base/tf-record.ts';
import { asFailure, Failure } from '../contract/failure.ts';
import type { ImportKind } from '../contract/imports.ts';
import { isConsoleLog, readConsole } from './read-console.ts';
import { readCsv } from './read-csv.ts';
import { jsonTables, readJson } from './read-json.ts';
import { isMetricFile, isSqlite, type MlflowRun, readDatabase, readMetricFiles } from './read-mlflow.ts';
import { readTensorBoard } from './read-tensorboard.ts';
import { isWandb, readWandb } from './read-wandb.ts';
import { type InputFile, malformed, type Table, tooLarge } from './table.ts';

/** A run found in the files to import. */
export interface FoundRun {
  /** Identifies the run among those found in the same files. */
  key: string;
  /** Name of the file, or of its folder. */
  file: string;
  kind: ImportKind;
  /** Name of the run in the file, else of the file. */
  name: string;
  /** A failure if the file can't be read. */
  table: Table | Failure;
}

const maxTextBytes = 64 << 20;

/** Recognizes the kind of each file by its content and reads it. Event files of one folder are one run, as in TensorBoard. */
export function findRuns(files: readonly InputFile[]): FoundRun[] {
  const isEventFile = ({ name, bytes }: InputFile) =>
    isTfRecord(bytes) || (bytes.length === 0 && /tfevents/.test(name));
  const eventFiles = files.filter(isEventFile).toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const metricFiles = files.filter(isMetricFile);
  const others = files.filter((file) => !eventFiles.includes(file) && !metricFiles.includes(file));
  return [
    ...[...Map.groupBy(eventFiles, ({ name }) => folderOf(name))].map(([folder, group]) =>
      attempt(folder || group[0]!.name, 'tensorboard', () => readTensorBoard(group)),
    ),
    ...mlflowRuns(metricFiles[0]?.name ?? '', () => readMetricFiles(metricFiles, others)),
    ...others.filter(({ name }) => baseName(name) !== 'meta.yaml').flatMap(runsIn),
  ];
}

function runsIn(file: InputFile): FoundRun[] {
  const { name, bytes } = file;
  if (isWandb(bytes)) {
    let runName: string | null = null;
    const run = attempt(name, 'wandb', () => {
      const read = readWandb(file);
      runName = read.name;
      return read.table;
    });
    return [{ ...run, name: runName ?? run.name }];
  }
  if (isSqlite(bytes)) return mlflowRuns(name, () => readDatabase(file));
  try {
    return tablesIn(file);
  } catch (error) {
    return [{ key: name, file: name, kind: 'csv', name: stemOf(name), table: asFailure(error) }];
  }
}

function tablesIn(file: InputFile): FoundRun[] {
  const { name } = file;
  const text = textOf(file);
  const start = text.trimStart()[0];
  const named = (kind: ImportKind, tables: { name: string | null; table: Table }[]) =>
    tables.map((each) => ({
      ...{ key: each.name === null ? name : `${name}#${each.name}`, file: name, kind, table: each.table },
      name: each.name ?? stemOf(name),
    }));
  // The lines of a console log may begin with `[`.
  if (start === '{' || (start === '[' && !isConsoleLog(text))) {
    const rows = readJson(name, text);
    return named(rows.isTrainerState ? 'trainer-state' : 'json', jsonTables(name, rows));
  }
  if (isConsoleLog(text)) return named('console', [{ name: null, table: readConsole(name, text) }]);
  return named('csv', readCsv(name, text));
}

function textOf({ name, bytes }: InputFile): string {
  if (bytes.length > maxTextBytes) throw tooLarge(name, `more than ${maxTextBytes >> 20} MiB`);
  if (bytes.subarray(0, 4).toString('latin1') === 'PAR1') throw unreadable(name, 'it is a Parquet file');
  if (bytes.includes(0)) throw unreadable(name, 'it is a binary file of an unknown kind');
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw unreadable(name, 'it is not UTF-8 text');
  }
}

export const unreadable = (file: string, reason: string) =>
  new Failure(
    'import_unreadable',
    `Can't read ${file}: ${reason}.`,
    'Choose a run bundle (.zip), CSV, JSON, JSON lines, TensorBoard event files, a W&B .wandb file or an MLflow store.',
  );

function mlflowRuns(file: string, read: () => MlflowRun[]): FoundRun[] {
  try {
    return read().map(({ id, name, table }) => {
      const key = id === '' ? file : id;
      return { key, file, kind: 'mlflow' as const, name: name ?? baseName(key), table };
    });
  } catch (error) {
    return [{ key: file, file, kind: 'mlflow', name: stemOf(file), table: asFailure(error) }];
  }
}

/** Reads one run. Protobuf's errors on invalid messages become `import_malformed`. */
function attempt(file: string, kind: ImportKind, read: () => Table): FoundRun {
  const run = { key: file, file, kind, name: kind === 'tensorboard' ? baseName(file) : stemOf(file) };
  try {
    return { ...run, table: read() };
  } catch (error) {
    if (error instanceof Failure) return { ...run, table: error };
    return { ...run, table: malformed(file, `${(error as Error).message}.`) };
  }
}

const folderOf = (name: string) => name.slice(0, Math.max(0, name.lastIndexOf('/')));
const baseName = (name: string) => name.slice(name.lastIndexOf('/') + 1);
const stemOf = (name: string) => baseName(name).replace(/\.[^.]+$/, '');
