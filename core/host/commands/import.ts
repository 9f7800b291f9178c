import { readdir, stat } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import type { Client } from '../../contract/client.ts';
import { asDiskFull, Failure } from '../../contract/failure.ts';
import { fileReason } from '../../contract/file-errors.ts';
import { type Importable, type ImportSource, isImportable, type Upload } from '../../contract/imports.ts';
import { count } from '../../contract/numbers.ts';
import { copyOneFile } from '../../run-directory/copy-file.ts';
import { asTask, cancelable, type TaskContext } from '../cancelable.ts';
import { print, warn } from '../output.ts';
import { type CommandOptions, withClient } from './with-client.ts';

interface ImportFlags extends CommandOptions {
  from?: ImportSource;
  name?: string;
  run?: string;
  dryRun?: boolean;
}

/** A file to import, with its path relative to what the user named. */
interface LocalFile {
  path: string;
  name: string;
}

/**
 * Imports all runs in files and folders, and prints their ids. Files are copied to the uploads folder, because the server accepts no paths
 * from clients.
 */
export async function importFiles(paths: string[], { home, json, ...flags }: ImportFlags): Promise<void> {
  const files = (await Promise.all(distinctly(paths).map(({ path, name }) => filesIn(path, name)))).flat();
  await cancelable(`Importing ${paths.join(', ')}`, (context) =>
    withClient(
      home,
      async (client) => {
        const uploads: Upload[] = [];
        try {
          for (const file of files) uploads.push(await upload(client, file, context));
          await importUploads(client, uploads, { ...flags, json: json ?? false }, context);
        } finally {
          await client.call('uploads.drop', { files: uploads.map(({ file }) => file) });
        }
      },
      context,
    ),
  );
}

/** Names the paths by their last part, or by what follows their common folder if last parts are equal. Leaves out repeated paths. */
function distinctly(paths: readonly string[]): LocalFile[] {
  const distinct = [...new Map(paths.map((path) => [resolve(path), path]))];
  const named = distinct.map(([, path]) => ({ path, name: basename(path) }));
  if (new Set(named.map(({ name }) => name)).size === named.length) return named;
  const isCommon = (folder: string) => distinct.every(([whole]) => whole.startsWith(join(folder, sep)));
  let common = dirname(distinct[0]![0]);
  while (!isCommon(common)) common = dirname(common);
  return distinct.map(([whole, path]) => ({ path, name: relative(common, whole).replaceAll(sep, '/') }));
}

async function filesIn(path: string, given: string): Promise<LocalFile[]> {
  try {
    if (!(await stat(path)).isDirectory()) return [{ path, name: given }];
    const entries = await readdir(path, { recursive: true, withFileTypes: true });
    const files = entries.flatMap((entry) => {
      const file = join(entry.parentPath, entry.name);
      const name = join(given, relative(path, file)).replaceAll(sep, '/');
      return entry.isFile() && isImportable(name) ? [{ path: file, name }] : [];
    });
    if (files.length > 0) return files.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  } catch (error) {
    throw unreadable(path, fileReason(error));
  }
  throw unreadable(
    path,
    'the folder contains no metrics of MLflow, TensorBoard, W&B or Hugging Face trainers, and no CSV, TSV or JSONL files',
  );
}

const unreadable = (path: string, reason: string) =>
  new Failure(
    'import_unreadable',
    `Can't read ${path}: ${reason}.`,
    'Pass a run bundle, a table of metrics, or the folder of an experiment tracker.',
  );

async function upload(client: Client, { path, name }: LocalFile, { signal }: TaskContext): Promise<Upload> {
  const { file, path: target } = await client.call('uploads.begin', {});
  try {
    await copyOneFile(path, target, { signal });
  } catch (error) {
    await client.call('uploads.drop', { files: [file] });
    throw signal.aborted ? error : (asDiskFull(error) ?? unreadable(path, fileReason(error)));
  }
  return { file, name };
}

async function importUploads(
  client: Client,
  uploads: Upload[],
  { from, name, run, dryRun = false, json = false }: Omit<ImportFlags, 'home'>,
  context: TaskContext,
): Promise<void> {
  const found = await asTask(client, context, (taskId) => client.call('imports.inspect', { uploads, from }, taskId));
  const chosen = choose(found, run);
  if (name !== undefined && chosen.length > 1)
    throw new Failure(
      'usage_invalid',
      `The import contains ${chosen.length} runs${run === undefined ? '' : ` named "${run}"`}, but --name sets the name of one.`,
      run === undefined ? 'Choose one with --run.' : 'Import them without --name, then use `starpo rename`.',
    );
  const valid = chosen.filter(({ problem }) => problem === null);
  for (const { name, problem } of chosen) {
    if (!problem) continue;
    if (valid.length === 0) throw new Failure(problem.code, problem.message, problem.hint);
    warn(`The run "${name}" was skipped: ${problem.message} ${problem.hint}`);
  }
  const imported = [];
  for (const each of valid) {
    const request = { uploads, key: each.key, from, name };
    const runId = dryRun
      ? null
      : (await asTask(client, context, (taskId) => client.call('imports.run', request, taskId))).runId;
    imported.push({ runId, ...each });
    if (!json) printRun(each, runId);
  }
  if (json) print(JSON.stringify(imported, null, 2));
}

function choose(found: readonly Importable[], run: string | undefined): Importable[] {
  if (found.length === 0)
    throw new Failure('import_empty', 'The import contains no runs with metrics.', 'Choose other files.');
  if (run === undefined) return [...found];
  const chosen = found.filter(({ name }) => name === run);
  if (chosen.length > 0) return chosen;
  const names = found.map(({ name }) => name).slice(0, 8);
  const more = found.length - names.length;
  throw new Failure(
    'import_run_unknown',
    `The import contains no run "${run}".`,
    `Runs in the files: ${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}.`,
  );
}

function printRun(
  { file, kind, from, mapped, mappedCount, unmappedCount, steps, remarks }: Importable,
  runId: string | null,
): void {
  for (const remark of remarks) warn(remark);
  if (kind !== 'bundle') {
    for (const { name, column } of mapped) if (name !== column) print(`  ${column} -> ${name}`);
    print(
      `${file} (${kind}, ${from}): ${count(mappedCount + unmappedCount, 'metric')}, ${mappedCount} recognized, ${count(steps, 'step')}`,
    );
  }
  if (runId !== null) print(runId);
  else if (kind === 'bundle') print(`${file} (run bundle)`);
}
