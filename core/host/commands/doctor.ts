import type { Client } from '../../contract/client.ts';
import { print, table } from '../output.ts';
import { withClient } from './with-client.ts';

/** Checks what training needs; the exit status is 1 where anything is amiss. */
export async function doctor({ home, json }: { home?: string; json?: boolean }): Promise<void> {
  const ask = async (client: Client) => ({
    info: await client.call('system.info', {}),
    checks: await client.call('machine.findings', {}),
  });
  const { info, checks } = await withClient(home, ask, { repeatable: true });
  if (json) print(JSON.stringify({ version: info.version, cores: info.cores, checks }, null, 2));
  else
    print(
      table(
        checks.map(({ name, fine, detail, advice }) => [
          fine ? 'ok' : 'PROBLEM',
          name,
          advice === null ? detail : `${detail}; ${advice}`,
        ]),
      ),
    );
  if (checks.some((check) => !check.fine)) process.exitCode = 1;
}
