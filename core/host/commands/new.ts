import type { NewRun } from '../../runs/create-run.ts';
import { print } from '../output.ts';
import { withCore } from './with-core.ts';

export async function newRun({ home, ...run }: NewRun & { home?: string | undefined }): Promise<void> {
  await withCore(home, async ({ runs }) => print(runs.folder(await runs.create(run))));
}
