import { existsSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { makeFolder } from '../../base/folders.ts';
import { quoted } from '../../base/quoted.ts';
import type { Client } from '../../contract/client.ts';
import type { ExportFormat, ExportSource, MadeExport } from '../../contract/contract.ts';
import { asFailure, Failure } from '../../contract/failure.ts';
import { TensorBoardLog } from '../../exports/tensorboard-live.ts';
import { copyOneFile } from '../../run-directory/copy-file.ts';
import { asTask, cancelable } from '../cancelable.ts';
import { print } from '../output.ts';
import { findStudy, resolveRun } from '../run-reference.ts';
import { nextSignal } from '../signals.ts';
import { untilEnded } from '../until-ended.ts';
import { withExport } from '../with-export.ts';
import { acrossHosts, withClient, withStudio } from './with-client.ts';

interface Options {
  as: ExportFormat;
  out?: string;
  checkpoint?: number;
  live?: boolean;
  home?: string;
}

/** Text formats, printed to stdout without `--out`. */
const texts: readonly ExportFormat[] = ['csv', 'jsonl', 'markdown', 'latex', 'methods', 'panels'];

/** Exports a run or a sweep to a folder or stdout. */
export async function exportRun(named: string, options: Options): Promise<void> {
  const { as: format, out, checkpoint, live = false, home } = options;
  if (live) return exportLive(named, options);
  if (checkpoint !== undefined && format !== 'hugging-face')
    throw usage('--checkpoint selects the weights of --as hugging-face.', 'Leave it out, or use --as hugging-face.');
  if (out === undefined && !texts.includes(format))
    throw usage(`The format ${format} needs an output folder.`, 'Set it with --out FOLDER.');
  const written = await cancelable(`Exporting ${named}`, (context) => {
    const write = async (client: Client) => {
      const of = await sourceOf(client, named, checkpoint);
      const made = await asTask(client, context, (taskId) => client.call('exports.make', { of, format }, taskId));
      return withExport(client, made, async () => {
        if (out === undefined) return contents(made);
        const paths = await copyFiles(made, resolve(out), context.signal);
        return paths.map((path) => `${path}\n`).join('');
      });
    };
    return withClient(home, write, { ...context, repeatable: true });
  });
  process.stdout.write(written);
}

/** Returns the contents of all files. Only an export of panels can have several. */
const contents = async ({ folder, files }: MadeExport) =>
  Buffer.concat(await Promise.all(files.map(({ name }) => readFile(join(folder, name)))));

/** Matches a sweep by id or full name, else a run. */
async function sourceOf(client: Client, named: string, checkpoint: number | undefined): Promise<ExportSource> {
  const studies = await client.call('studies.list', {});
  const isStudy = studies.some(({ id, name }) => id === named || name.toLowerCase() === named.trim().toLowerCase());
  if (isStudy) return { studyId: findStudy(studies, named).id };
  return { runId: await resolveRun(client, named), checkpoint };
}

/** Copies all files into a folder, or none on failure, and returns their paths. Throws `export_exists` instead of replacing a file. */
async function copyFiles({ folder, files }: MadeExport, out: string, signal: AbortSignal): Promise<string[]> {
  const present = files.find(({ name }) => existsSync(join(out, name)));
  if (present)
    throw new Failure(
      'export_exists',
      `${join(out, present.name)} already exists.`,
      'Choose another folder with --out, or delete the file.',
    );
  makeFolder(out);
  const paths: string[] = [];
  try {
    for (const { name } of files) {
      const path = join(out, name);
      paths.push(path);
      await copyOneFile(join(folder, name), path, { signal });
    }
  } catch (error) {
    for (const path of paths) await rm(path, { force: true });
    throw error;
  }
  return paths;
}

/** Writes a run's metrics as TensorBoard events until the run ends, through the host if another process is the host. */
async function exportLive(named: string, { as, out, home }: Options): Promise<void> {
  if (as !== 'tensorboard')
    throw usage('--live supports only TensorBoard events.', 'Use --as tensorboard --live --out FOLDER.');
  if (out === undefined) throw usage('--live needs an output folder.', 'Set it with --out FOLDER.');
  const failed = Promise.withResolvers<never>();
  // It may fail after the race below has ended.
  failed.promise.catch(() => {});
  const log = new TensorBoardLog(resolve(out), (error) => {
    // The next host continues where this one exited.
    if (asFailure(error).code !== 'connection_lost') failed.reject(error);
  });
  const signals = nextSignal();
  try {
    let runId: string | undefined;
    await withStudio({ home, endpoint: { port: 0 } }, async (studio) => {
      const ended = acrossHosts(studio, async (client) => {
        if (runId === undefined) {
          runId = await resolveRun(client, named);
          print(`tensorboard --logdir ${quoted(resolve(out))}`);
        }
        log.follow(client, runId);
        const { status, iteration } = await untilEnded(client, runId);
        await log.catchUp(client, runId);
        print(`${runId} ${status === 'interrupted' ? 'was interrupted' : status} after iteration ${iteration}`);
      });
      const stopped = signals.signal.then(() => {
        throw new Failure('task_canceled', 'The live export was stopped.', 'The run continues. Run the command again.');
      });
      await Promise.race([ended, failed.promise, stopped]);
    });
  } finally {
    log.close();
    signals.close();
  }
}

const usage = (message: string, hint: string) => new Failure('usage_invalid', message, hint);
