import { constants, existsSync } from 'node:fs';
import { copyFile, mkdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { type Client, connectionLost } from '../../contract/client.ts';
import type { ExportFormat, ExportSource, MadeExport, Task } from '../../contract/contract.ts';
import { Failure } from '../../contract/failure.ts';
import { TensorBoardLog } from '../../exports/tensorboard-live.ts';
import { print } from '../output.ts';
import { findStudy, resolveRun } from '../run-reference.ts';
import { nextSignal } from '../signals.ts';
import { acrossHosts, withClient, withStudio } from './with-client.ts';

interface Options {
  as: ExportFormat;
  out?: string;
  checkpoint?: number;
  live?: boolean;
  home?: string;
}

/** One file of text each, which is printed where no folder is named. */
const texts: readonly ExportFormat[] = ['csv', 'jsonl', 'markdown', 'latex', 'methods'];

/** Makes files of a run or a study in a folder; Ctrl-C gives it up. */
export async function exportRun(named: string, options: Options): Promise<void> {
  const { as: format, out, checkpoint, live = false, home } = options;
  if (live) return exportLive(named, options);
  if (out === undefined && !texts.includes(format))
    throw usage(`${format} makes several files.`, 'Name a folder for them with --out FOLDER.');
  const signals = nextSignal();
  try {
    await withClient(home, async (client) => {
      const of = await sourceOf(client, named, checkpoint);
      const giveUp = cancelling(client, 'runId' in of ? of.runId : null);
      void signals.signal.then(giveUp);
      const made = await client.call('exports.make', { of, format });
      try {
        if (out === undefined) process.stdout.write(await readFile(join(made.folder, made.files[0]!.name)));
        else await take(made, resolve(out));
      } finally {
        await client.call('exports.forget', { exportId: made.exportId });
      }
    });
  } finally {
    signals.close();
  }
}

/** A study by its id or whole name, else a run. */
async function sourceOf(
  client: Client,
  named: string,
  checkpoint: number | undefined,
): Promise<ExportSource> {
  const studies = await client.call('studies.list', {});
  const isStudy = studies.some(
    ({ id, name }) => id === named || name.toLowerCase() === named.trim().toLowerCase(),
  );
  if (isStudy) return { studyId: findStudy(studies, named).id };
  return { runId: await resolveRun(client, named), checkpoint };
}

/** Says how far the export is, where a person looks on; gives what gives it up. */
function cancelling(client: Client, runId: string | null): () => void {
  let taskId: string | undefined;
  client.on('task', (task: Task) => {
    if (task.kind !== 'export' || task.runId !== runId) return;
    taskId = task.id;
    if (process.stderr.isTTY && task.total > 0)
      process.stderr.write(`\r\u001b[2K${task.state === 'running' ? `${task.done} of ${task.total}` : ''}`);
  });
  return () => {
    if (taskId !== undefined) void client.call('tasks.cancel', { taskId }).catch(() => {});
  };
}

/** Copies the files into a folder and prints their paths. Throws `export_exists` before anything is replaced. */
async function take({ folder, files }: MadeExport, out: string): Promise<void> {
  const present = files.find(({ name }) => existsSync(join(out, name)));
  if (present)
    throw new Failure(
      'export_exists',
      `${join(out, present.name)} is there already.`,
      'Choose another folder with --out, or delete the file.',
    );
  await mkdir(out, { recursive: true });
  for (const { name } of files) {
    await copyFile(join(folder, name), join(out, name), constants.COPYFILE_FICLONE);
    print(join(out, name));
  }
}

/** Passes a run's metrics on to TensorBoard's event files until it has ended, whichever process has the data folder. */
async function exportLive(named: string, { as, out, home }: Options): Promise<void> {
  if (as !== 'tensorboard' || out === undefined)
    throw usage('Only TensorBoard events are written live.', 'Give --as tensorboard --live --out FOLDER.');
  const log = new TensorBoardLog(resolve(out), () => {});
  const signals = nextSignal();
  try {
    await withStudio({ home, endpoint: { port: 0 } }, async (studio) => {
      const ended = acrossHosts(studio, async (client) => {
        await client.call('history.ready', {});
        const runId = await resolveRun(client, named);
        print(`tensorboard --logdir ${resolve(out)}`);
        log.follow(client, runId);
        await untilEnded(client, runId);
        await log.catchUp(client, runId);
      });
      await Promise.race([ended, signals.signal]);
    });
  } finally {
    log.close();
    signals.close();
  }
}

/** Throws `connection_lost` where core goes before. */
function untilEnded(client: Client, runId: string): Promise<void> {
  const ends = ['completed', 'stopped', 'failed', 'interrupted'];
  return new Promise((resolve, reject) => {
    const look = (run: { status: string }) => {
      if (ends.includes(run.status)) resolve();
    };
    client.on('run', look, runId);
    client.onClose(() => reject(connectionLost()));
    client.call('runs.get', { runId }).then(({ summary }) => look(summary), reject);
  });
}

const usage = (message: string, hint: string) => new Failure('usage_invalid', message, hint);
