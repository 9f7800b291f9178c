import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { processExists } from '../runs/liveness.ts';

/** How the host of a data folder is reached; for the owner's eyes alone. */
export interface HostRecord {
  /** `http://127.0.0.1:7717` */
  address: string;
  token: string;
  pid: number;
}

const hostFile = (home: string) => join(home, 'host.json');

/** The host that announced itself last, which may have died since; null where there is none. */
export function readHost(home: string): HostRecord | null {
  try {
    return JSON.parse(readFileSync(hostFile(home), 'utf8')) as HostRecord;
  } catch {
    return null;
  }
}

/** The first living host of a data folder is the one that host.json names. Gives the function that takes the record back. */
export function announceHost(home: string, record: HostRecord): () => void {
  const present = readHost(home);
  if (present && present.pid !== record.pid && processExists(present.pid)) return () => {};
  const partial = `${hostFile(home)}.${record.pid}`;
  writeFileSync(partial, `${JSON.stringify(record)}\n`, { mode: 0o600 });
  renameSync(partial, hostFile(home));
  return () => {
    if (readHost(home)?.token === record.token) rmSync(hostFile(home), { force: true });
  };
}
