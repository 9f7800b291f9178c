import type { Client } from '../contract/client.ts';
import type { MadeExport } from '../contract/contract.ts';
import { ignoring } from '../contract/failure.ts';

/** Uses an export's files, then deletes the export. Throws `connection_lost` if `use` fails and the host has exited, because a host deletes its exports. */
export async function withExport<T>(client: Client, { exportId }: MadeExport, use: () => Promise<T>): Promise<T> {
  const forget = () => client.call('exports.forget', { exportId });
  const result = await use().catch(async (error) => {
    await forget();
    throw error;
  });
  await forget().catch(ignoring('connection_lost'));
  return result;
}
