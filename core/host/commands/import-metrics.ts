import { dataFolder } from '../../base/home.ts';
import type { ImportOptions } from '../../imports/import-run.ts';
import { importInThread } from '../../imports/import-thread.ts';
import { removePartialFolders } from '../../runs/partial-folders.ts';
import { cancelable } from '../cancelable.ts';
import { print } from '../output.ts';
import { type CommandOptions, withClient } from './with-client.ts';

/** Creates a run from a table of metrics and prints its id. This process reads the file, so that the server accepts no paths from clients. */
export async function importMetrics(
  file: string,
  { home, json, ...options }: ImportOptions & CommandOptions,
): Promise<void> {
  await removePartialFolders(dataFolder(home));
  const imported = await cancelable(`Importing ${file}`, (context) =>
    importInThread(dataFolder(home), file, options, context),
  );
  const { runId, steps, names, remarks } = imported;
  await withClient(home, (client) => client.call('runs.adopt', { runId }), { repeatable: true });
  if (json) return print(JSON.stringify(imported, null, 2));
  for (const remark of remarks) process.stderr.write(`warning: ${remark}\n`);
  for (const [ours, theirs] of Object.entries(names)) if (ours !== theirs) print(`  ${theirs} -> ${ours}`);
  print(`imported ${Object.keys(names).length} metrics for ${steps} steps\n${runId}`);
}
