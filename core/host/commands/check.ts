import type { Client } from '../../contract/client.ts';
import { Failure } from '../../contract/failure.ts';
import { titleOf } from '../../presets/form.ts';
import { print } from '../output.ts';
import { resolveSource } from '../run-reference.ts';
import type { NewRunOptions } from './new.ts';
import { withClient } from './with-client.ts';

/** Prints warnings and settings without effect. Throws the first problem. */
export async function check({ home, source, set, json }: NewRunOptions & { json: boolean }): Promise<void> {
  const request = async (client: Client) =>
    client.call('configs.check', { ...(await resolveSource(client, source)), set });
  const checked = await withClient(home, request, { repeatable: true });
  if (json) print(JSON.stringify(checked, null, 2));
  const [problem] = checked.problems;
  if (problem) throw new Failure(problem.code, problem.message, problem.hint);
  if (json) return;
  for (const warning of checked.warnings) print(`warning: ${warning}`);
  // A setting outside the form is not one that users choose.
  const idle = checked.idle.filter(({ path }) => titleOf(path) !== path);
  for (const [reason, paths] of Map.groupBy(idle, (each) => each.reason))
    print(`no effect: ${paths.map(({ path }) => path).join(', ')} (${reason})`);
  print('The configuration is valid.');
}
