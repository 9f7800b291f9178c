import type { Notices } from '../base/notices.ts';
import type { ApiError, PooledDevice } from '../contract/contract.ts';
import { Failure } from '../contract/failure.ts';
import { type DeviceKey, deviceKey } from '../contract/run-facts.ts';
import type { AsideDevice, QueueFile } from '../run-sync/queue-file.ts';
import type { Devices, Trainer } from '../trainer/trainer.ts';
import type { PoolDevice } from './placement.ts';

interface PoolParts {
  queueFile: QueueFile;
  trainer: Pick<Trainer, 'devices'>;
  notices: Notices;
}

/** The devices on which runs train, and which of them are set aside. */
export class DevicePool {
  private readonly parts: PoolParts;
  private read: { devices: Devices['devices']; time: number } | null = null;

  constructor(parts: PoolParts) {
    this.parts = parts;
  }

  /** Returns usable devices and those set aside, read at most `maxAge` ms ago. Throws `trainer_missing` or `trainer_unusable`. */
  async devices(maxAge: number): Promise<PoolDevice[]> {
    if (!this.read || Date.now() - this.read.time > maxAge) {
      const time = Date.now();
      const { devices } = await this.parts.trainer.devices();
      this.read = { devices, time };
    }
    return this.lastDevices()!;
  }

  /** Returns the devices last read; null before. */
  lastDevices(): PoolDevice[] | null {
    if (!this.read) return null;
    const usable = this.read.devices.filter(({ available }) => available).map(toPoolDevice);
    return [...usable, ...this.missing(usable)];
  }

  /** Returns all devices with their state. */
  async list(): Promise<PooledDevice[]> {
    await this.devices(0);
    const listed = this.read!.devices;
    const all = [...listed.map(toPoolDevice), ...this.missing(listed.filter(({ available }) => available))];
    const failed = new Map(this.aside.map((device) => [deviceKey(device), device]));
    return all.map((device): PooledDevice => {
      const { problem = null, run, time } = failed.get(deviceKey(device)) ?? {};
      if (run !== undefined) return { ...device, problem, aside: { run, time: time! } };
      const unusable = listed.find(({ id, available }) => id === device.id && !available);
      return { ...device, problem: unusable ? unavailable(unusable) : null, aside: null };
    });
  }

  /** Devices on which no run is started. */
  get aside(): readonly AsideDevice[] {
    return this.parts.queueFile.content().aside;
  }

  /** Whether runs may share a GPU if their memory fits. */
  get share(): boolean {
    return this.parts.queueFile.content().share;
  }

  setShare(share: boolean): void {
    this.parts.queueFile.update((content) => {
      content.share = share;
    });
    this.publish();
  }

  /** Returns whether the trainer listed a device. */
  has({ id }: { id: string }): boolean {
    return this.lastDevices()?.some((device) => device.id === id) ?? false;
  }

  /** Returns the vendor's name of a device, or its id. */
  nameOf = ({ id }: { id: string }): string => this.read?.devices.find((device) => device.id === id)?.name ?? id;

  /** Returns a device to the pool. Throws `device_not_set_aside`. */
  restore(name: string): void {
    const found = this.aside.find(({ id, uuid }) => id === name || uuid === name);
    if (!found)
      throw new Failure(
        'device_not_set_aside',
        `${name} is not set aside.`,
        'List devices with `starpo queue devices`.',
      );
    this.parts.queueFile.update((content) => {
      content.aside = content.aside.filter((device) => deviceKey(device) !== deviceKey(found));
    });
    this.publish();
  }

  /** Returns the devices set aside that the trainer no longer lists, such as a GPU that fell off the bus. Runs still wait for them. */
  private missing(listed: readonly DeviceKey[]): PoolDevice[] {
    const keys = new Set(listed.map(deviceKey));
    const missing = this.aside.filter((device) => !keys.has(deviceKey(device)));
    return missing.map(({ id, uuid, name }) => ({ id, uuid, name, memoryBytes: null, freeBytes: null }));
  }

  publish(): void {
    this.parts.notices.emit('devices', {});
  }
}

const toPoolDevice = ({ id, uuid, name, memory_bytes, free_bytes }: Devices['devices'][number]): PoolDevice => ({
  ...{ id, uuid: uuid ?? null, name },
  memoryBytes: memory_bytes ?? null,
  freeBytes: free_bytes ?? null,
});

const unavailable = ({ id, reason, hint }: Devices['devices'][number]): ApiError => ({
  code: 'device_unavailable',
  message: `${id} can't be used: ${reason ?? 'unknown reason'}.`,
  hint: hint ?? '',
});
