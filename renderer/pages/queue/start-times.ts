import type { RunSummary, SystemInfo } from '../../../core/contract/contract.ts';
import { devicesFor, isSameDevice } from '../../../core/contract/run-facts.ts';
import { deviceOf } from '../../components/run-facts.ts';

type Device = Pick<SystemInfo['devices'][number], 'id' | 'uuid'>;

/**
 * Returns the seconds until each queued run starts, next first, if each device trains one run at a time; null if the duration of an earlier run on its
 * devices is unknown. `seconds`: training time of all iterations, by run.
 */
export function startTimes(
  queued: readonly RunSummary[],
  live: readonly RunSummary[],
  devices: readonly Device[],
  seconds: Readonly<Record<string, number | null>>,
): (number | null)[] {
  const known = devices.length > 0 ? devices : [{ id: 'auto' }];
  const freeAt = new Map(
    known.map((device) => {
      const left = live
        .filter((run) => isSameDevice(device, deviceOf(run)))
        .map(({ etaSeconds }) => etaSeconds ?? Infinity);
      return [device, Math.max(0, ...left)];
    }),
  );
  return queued.map(({ id, device, iteration, iterations }) => {
    const possible = devices.length > 0 ? devicesFor(device, devices) : known;
    const [first] = [...possible].sort((a, b) => freeAt.get(a)! - freeAt.get(b)!);
    if (!first) return null;
    const start = freeAt.get(first)!;
    // A stopped run only trains its remaining iterations.
    freeAt.set(first, start + (seconds[id] ?? Infinity) * (1 - iteration / iterations));
    return Number.isFinite(start) ? start : null;
  });
}
