import type { Client } from '../../contract/client.ts';
import { print, table } from '../output.ts';
import { type CommandOptions, withClient } from './with-client.ts';

/** Checks the requirements for training. The exit status is 1 if a check fails. */
export async function doctor({ home, json }: CommandOptions): Promise<void> {
  const fetch = async (client: Client) => ({
    info: await client.call('system.info', {}),
    checks: await client.call('machine.findings', {}),
  });
  const { info, checks } = await withClient(home, fetch, { repeatable: true });
  if (json) print(JSON.stringify({ version: info.version, cores: info.cores, checks }, null, 2));
  else
    print(
      table(
        checks.flatMap(({ name, fine, absent, detail, advice }) => [
          [absent ? '-' : fine ? 'ok' : 'PROBLEM', name, detail],
          ...(advice === null ? [] : [['', '', advice]]),
        ]),
      ),
    );
  if (checks.some((check) => !check.fine)) process.exitCode = 1;
}
