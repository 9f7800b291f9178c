import { accessSync, constants, existsSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import type { Finding, SystemInfo } from '../contract/contract.ts';
import { bytes } from '../contract/numbers.ts';

/** Free space in bytes below which a run may fail. */
const minFreeBytes = 1e9;

/** Checks the requirements for training. */
export function findingsOf(info: SystemInfo, resources: string): Finding[] {
  const { trainer, devices, cuda, dataFolder } = info;
  const starter = join(resources, 'starter');
  const free = freeBytes(dataFolder);
  return [
    finding(
      'trainer',
      trainer.problem === null,
      trainer.problem ?? `${trainer.path} (${trainer.build ?? 'unknown build'})`,
      trainer.building
        ? 'Wait until setup has built it.'
        : 'In a checkout, run `npm run setup`. Otherwise reinstall the app.',
    ),
    finding(
      'devices',
      devices.some((device) => device.available),
      devices.map((device) => device.name).join(', ') || 'none',
      'Fix the trainer first.',
    ),
    ...gpuFindings(devices, cuda),
    finding(
      'starter policy',
      existsSync(join(starter, 'model.safetensors')),
      starter,
      'Reinstall the app, or restore resources/starter in a checkout.',
    ),
    finding(
      'data folder',
      writable(dataFolder),
      dataFolder,
      'Make it writable, or choose another folder on the Settings page of the desktop app, with --home, or with STARPO_HOME.',
    ),
    finding(
      'free space',
      free > minFreeBytes,
      bytes(free),
      'Free disk space, for example by deleting runs or episodes.',
    ),
  ];
}

const finding = (name: string, fine: boolean, detail: string, advice: string): Finding => ({
  ...{ name, fine, detail },
  advice: fine ? null : advice,
});

/** Codes that a machine without a GPU also reports; they are not problems. */
const expectedWithoutGpu = ['built_without_cuda', 'driver_missing', 'no_gpu'];

/** Returns one line per GPU, or a line with the reason why none is usable. A pure function, so that every case can be tested. */
export function gpuFindings(devices: SystemInfo['devices'], cuda: SystemInfo['cuda']): Finding[] {
  const name = 'GPU';
  if (cuda?.problem) {
    const { code, message, hint } = cuda.problem;
    const absent = expectedWithoutGpu.includes(code);
    return [{ name, fine: absent, ...(absent && { absent }), detail: message, advice: hint }];
  }
  return devices
    .filter(({ id }) => id !== 'cpu')
    .map(({ id, name: model, available, reason, hint }) => ({
      name,
      fine: available,
      detail: available ? `${id} ${model}` : `${id} ${model} can't be used: ${reason}`,
      advice: available ? null : (hint ?? null),
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

function freeBytes(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}
