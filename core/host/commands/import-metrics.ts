import { dataFolder } from '../../base/home.ts';
import type { ImportOptions } from '../../imports/import-run.ts';
import { importInThread } from '../../imports/import-thread.ts';
import { removeHalfMade } from '../../runs/half-made.ts';
import { whileWanted } from '../giving-up.ts';
import { print } from '../output.ts';
import { withClient } from './with-client.ts';

/** Makes a run of a table of metrics and prints its id. It reads the file by itself, so that core takes no path from a client. Ctrl-C gives it up, and leaves no run. */
export async function importMetrics(
  file: string,
  { home, json, ...options }: ImportOptions & { home?: string; json?: boolean },
): Promise<void> {
  await removeHalfMade(dataFolder(home));
  const imported = await whileWanted(`Importing ${file}`, (wanted) =>
    importInThread(dataFolder(home), file, options, wanted),
  );
  const { runId, steps, names, remarks } = imported;
  await withClient(home, (client) => client.call('runs.adopt', { runId }), { repeatable: true });
  if (json) return print(JSON.stringify(imported, null, 2));
  for (const remark of remarks) process.stderr.write(`warning: ${remark}\n`);
  for (const [ours, theirs] of Object.entries(names)) if (ours !== theirs) print(`  ${theirs} is ${ours}`);
  print(`${steps} steps of ${Object.keys(names).length} metrics\n${runId}`);
}
