import { bytes as byteText, count } from '../contract/numbers.ts';
import { type DeviceKey, deviceKey, devicesFor, isSameDevice } from '../contract/run-facts.ts';

/** A device of the pool. GPUs are numbered as in `starpo-trainer devices`, which respects CUDA_VISIBLE_DEVICES. */
export interface PoolDevice extends DeviceKey {
  name: string;
  /** Total and free memory; null: unknown. */
  memoryBytes: number | null;
  freeBytes: number | null;
}

/** A run that uses a device, or is being started on it. */
export interface Occupant {
  run: string;
  device: DeviceKey;
  /** Whether its trainer has not planned its memory yet. */
  loading: boolean;
  /** Planned memory; null: unknown. */
  bytes: number | null;
}

export interface PlacementFacts {
  /** Usable devices, and those set aside. */
  devices: readonly PoolDevice[];
  /** Keys of the devices set aside. */
  aside: ReadonlySet<string>;
  occupants: readonly Occupant[];
  /** Whether runs may share a GPU if their memory fits. */
  share: boolean;
  /** CPU cores. A GPU is shared only while fewer runs than this are active, because each trainer keeps a core busy. */
  cores: number;
}

/** The device to start a run on, or why the run waits. */
export type Placement =
  | { device: PoolDevice }
  /** No device of the pool matches the setting. The trainer reports the reason. */
  | { unknown: string }
  | { waits: 'aside' | 'busy' | 'memory'; reason: string };

/** Share of a GPU's memory that several runs may use together. */
const sharedMemory = 0.95;
/** Share of free memory above which no other program uses a GPU. */
const unused = 0.9;

/**
 * Selects the device for a run with a device setting that needs `bytes` of GPU memory (null: unknown). Prefers a device without a run, then the GPU
 * with the most free memory.
 */
export function place(setting: string, bytes: number | null, facts: PlacementFacts): Placement {
  const possible = devicesFor(setting, facts.devices);
  if (possible.length === 0) return { unknown: setting };
  const offered = possible.filter((device) => !facts.aside.has(deviceKey(device)));
  if (offered.length === 0)
    return { waits: 'aside', reason: `Waits for ${namesOf(possible)}, set aside after a failure.` };
  const open = offered.filter((device) => isOpen(device, bytes, facts));
  const fitting = open.filter((device) => hasMemory(device, bytes));
  const [best] = fitting.sort(
    (a, b) => occupantsOf(a, facts).length - occupantsOf(b, facts).length || (b.freeBytes ?? -1) - (a.freeBytes ?? -1),
  );
  if (best) return { device: best };
  if (open.length === 0) {
    const { share, occupants, cores } = facts;
    const isFull = share && occupants.length >= cores && offered.some(({ id }) => id !== 'cpu');
    const limit = isFull ? `: GPUs are shared by at most ${count(cores, 'run')}, one per CPU core` : '';
    return { waits: 'busy', reason: `Waits for ${offered.length > 1 ? 'a free GPU' : namesOf(offered)}${limit}.` };
  }
  const free = open.map(({ id, freeBytes }) => `${id} has ${byteText(freeBytes!)} free`).join(', ');
  return { waits: 'memory', reason: `Needs ${byteText(bytes!)} of GPU memory: ${free}.` };
}

const namesOf = (devices: readonly PoolDevice[]) => devices.map(({ id }) => (id === 'cpu' ? 'the CPU' : id)).join(', ');

const occupantsOf = (device: PoolDevice, { occupants }: PlacementFacts) =>
  occupants.filter((occupant) => isSameDevice(device, occupant.device));

/** Returns whether the runs on a device leave room for another. */
function isOpen(device: PoolDevice, bytes: number | null, facts: PlacementFacts): boolean {
  const others = occupantsOf(device, facts);
  if (others.length === 0) return true;
  if (!facts.share || device.id === 'cpu' || bytes === null || device.memoryBytes === null) return false;
  if (facts.occupants.length >= facts.cores) return false;
  // A loading run allocates its memory later.
  if (others.some((other) => other.loading || other.bytes === null)) return false;
  const planned = others.reduce((sum, other) => sum + other.bytes!, bytes);
  return planned <= sharedMemory * device.memoryBytes;
}

/** Returns whether the memory that other programs leave free suffices. An unused GPU is tried: the plan is an estimate. */
function hasMemory({ freeBytes, memoryBytes }: PoolDevice, bytes: number | null): boolean {
  if (freeBytes === null || bytes === null || freeBytes >= bytes) return true;
  return memoryBytes !== null && freeBytes >= unused * memoryBytes;
}
