import type { Client } from '../../contract/client.ts';
import type { Output } from '../../contract/contract.ts';
import { Failure } from '../../contract/failure.ts';
import { bytes } from '../../contract/numbers.ts';
import { print, table } from '../output.ts';
import { findRun, findTrashed } from '../run-reference.ts';
import { type CommandOptions, withClient, withRun } from './with-client.ts';

export async function renameRun(named: string, name = '', { home }: CommandOptions): Promise<void> {
  const { summary } = await withRun(home, named, async (client, runId) => {
    await client.call('runs.annotate', { runId, name });
    return client.call('runs.get', { runId });
  });
  print(summary.name);
}

/** Prints each deleted run. Throws the first error. */
export async function deleteRuns(named: string[], { home }: CommandOptions): Promise<void> {
  const result = await withClient(home, async (client) => {
    const runs = await client.call('runs.list', {});
    return client.call('runs.delete', { runIds: named.map((each) => findRun(runs, each).id) });
  });
  printDeleted(result);
}

/** Prints each run moved to the trash. Throws the first error. */
export function printDeleted({ deleted, refused }: Output<'runs.delete'>): void {
  for (const { runId, bytes: size } of deleted) print(`moved ${runId} (${bytes(size)}) to the trash`);
  const [first] = refused;
  if (first) throw new Failure(first.error.code, `${first.runId}: ${first.error.message}`, first.error.hint);
}

/** Lists runs, then sweeps; in JSON, sweeps have a `studyId` instead of a `runId`. */
export async function listTrash({ home, json }: CommandOptions): Promise<void> {
  const { runs, studies } = await withClient(home, trashed, { repeatable: true });
  if (json) return print(JSON.stringify([...runs, ...studies], null, 2));
  if (runs.length + studies.length === 0) return print('The trash is empty.');
  const day = (time: number) => new Date(time).toISOString().slice(0, 10);
  const rows = [
    ...runs.map((run) => [run.runId, 'run', run.name, bytes(run.bytes), day(run.deletedAt), day(run.until)]),
    ...studies.map(({ studyId, name, deletedAt, until }) => [
      ...[studyId, 'sweep', name, '', day(deletedAt), day(until)],
    ]),
  ];
  print(table([['ID', 'TYPE', 'NAME', 'SIZE', 'DELETED', 'KEPT UNTIL'], ...rows]));
}

const trashed = async (client: Client) => ({
  runs: await client.call('trash.list', {}),
  studies: await client.call('studies.trashed', {}),
});

/** Restores runs or sweeps; of several with one name, the one deleted last. The runs of a sweep are restored by their own ids. */
export async function restoreRuns(named: string[], { home }: CommandOptions): Promise<void> {
  await withClient(home, async (client) => {
    const { runs, studies } = await trashed(client);
    const all = [
      ...runs.map(({ runId, name }) => ({ id: runId, name })),
      ...studies.map(({ studyId, name }) => ({ id: studyId, name })),
    ];
    // The list is newest first: for duplicate ids, the newest entry wins.
    const unique = [...new Map(all.toReversed().map((each) => [each.id, each])).values()];
    const found = named.map((each) => {
      const { id } = findTrashed(unique, each);
      return {
        run: runs.find(({ runId }) => runId === id),
        study: studies.find(({ studyId }) => studyId === id),
      };
    });
    const ids = found.flatMap(({ run }) => run?.id ?? []);
    if (ids.length > 0) for (const runId of await client.call('trash.restore', { ids })) print(runId);
    for (const { run, study } of found) {
      if (run || !study) continue;
      print((await client.call('studies.restore', { studyId: study.studyId, ids: [] })).id);
    }
  });
}

export async function emptyTrash({ home }: CommandOptions): Promise<void> {
  const freed = await withClient(home, (client) => client.call('trash.empty', {}));
  print(`${bytes(freed.bytes)} freed`);
}
