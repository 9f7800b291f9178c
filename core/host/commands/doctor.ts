import { accessSync, constants, existsSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import type { SystemInfo } from '../../contract/contract.ts';
import { defaultResources } from '../../index.ts';
import { print, table } from '../output.ts';
import { withClient } from './with-client.ts';

interface Check {
  name: string;
  fine: boolean;
  detail: string;
}

/** Free space below which a run may not end well. */
const leastFreeBytes = 1e9;

/** Checks what training needs; the exit status is 1 where anything is amiss. */
export async function doctor({ home, json }: { home?: string; json?: boolean }): Promise<void> {
  const { trainer, devices, cuda, version, dataFolder, cores } = await withClient(home, (client) =>
    client.call('system.info', {}),
  );
  const starter = join(process.env.STARPO_RESOURCES ?? defaultResources, 'starter');
  const space = statfsSync(dataFolder);
  const free = space.bavail * space.bsize;
  const checks: Check[] = [
    {
      name: 'trainer',
      fine: trainer.problem === null,
      detail: trainer.problem ?? `${trainer.path} (${trainer.build ?? 'unknown build'})`,
    },
    {
      name: 'devices',
      fine: devices.some((device) => device.available),
      detail: devices.map((device) => device.name).join(', ') || 'none',
    },
    ...checkGpus(devices, cuda),
    { name: 'starter policy', fine: existsSync(join(starter, 'model.safetensors')), detail: starter },
    { name: 'data folder', fine: writable(dataFolder), detail: dataFolder },
    { name: 'free space', fine: free > leastFreeBytes, detail: `${(free / 1e9).toFixed(1)} GB` },
  ];
  if (json) print(JSON.stringify({ version, cores, checks }, null, 2));
  else print(table(checks.map(({ name, fine, detail }) => [fine ? 'ok' : 'PROBLEM', name, detail])));
  if (checks.some((check) => !check.fine)) process.exitCode = 1;
}

/** What a machine without a GPU says too: no reason to call it sick. */
const ordinary = ['built_without_cuda', 'driver_missing', 'no_gpu'];

/** A line for each GPU, or one that says why there is none. Pure, so that every case can be tested. */
export function checkGpus(devices: SystemInfo['devices'], cuda: SystemInfo['cuda']): Check[] {
  const name = 'GPU';
  if (cuda?.problem) {
    const { code, message, hint } = cuda.problem;
    return [{ name, fine: ordinary.includes(code), detail: `none: ${message}; ${hint}` }];
  }
  return devices
    .filter(({ id }) => id !== 'cpu')
    .map(({ id, name: model, available, reason, hint }) => ({
      name,
      fine: available,
      detail: available ? `${id} ${model}` : `${id} ${model} can't be used: ${reason}; ${hint}`,
    }));
}

function writable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
