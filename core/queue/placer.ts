import { availableCores } from '../base/limits.ts';
import type { ApiError } from '../contract/contract.ts';
import { type DeviceKey, deviceKey, devicesFor } from '../contract/run-facts.ts';
import type { HistoryDatabase } from '../history/database.ts';
import { lastMachine, lastStart } from '../history/queries.ts';
import { getRun, listRuns } from '../history/runs-table.ts';
import { isLocal } from '../run-sync/liveness.ts';
import type { QueueEntry, QueueFile } from '../run-sync/queue-file.ts';
import type { Supervisor } from '../run-sync/supervisor.ts';
import type { Runs } from '../runs/runs.ts';
import type { Trainer } from '../trainer/trainer.ts';
import type { DevicePool } from './device-pool.ts';
import { MemoryNeeds } from './memory-need.ts';
import { type Occupant, type PlacementFacts, type PoolDevice, place } from './placement.ts';

/** Maximum age in ms of the list of devices. Reading it starts a process. */
const maxAge = 15_000;

interface PlacerParts {
  database: HistoryDatabase;
  queueFile: QueueFile;
  runs: Runs;
  supervisor: Supervisor;
  trainer: Trainer;
  pool: DevicePool;
}

interface Next {
  placed: { run: string; device: PoolDevice } | null;
  /** Why runs wait, by run. */
  waits: Map<string, string>;
  /** What blocks all runs; null if nothing does. */
  problem: ApiError | null;
}

/** Selects devices for queued runs. */
export class Placer {
  private readonly parts: PlacerParts;
  private readonly needs: MemoryNeeds;
  /** Start of the newest run when the devices were read: it has used memory since. */
  private readAtStart = 0;

  constructor(parts: PlacerParts) {
    this.parts = parts;
    this.needs = new MemoryNeeds(parts);
  }

  /** Returns the first of the entries that has a free device. Throws if the trainer is missing. */
  async next(entries: readonly QueueEntry[]): Promise<Next> {
    // Reading the devices starts a process, which isn't needed while all are busy. Whether a run can share a busy GPU depends on its memory.
    const cached = this.parts.pool.share ? null : this.parts.pool.lastDevices();
    const decided = cached && (await this.decide(entries, cached, { memory: false }));
    if (decided && !decided.placed) return decided;
    return this.decide(entries, await this.freshDevices(), { memory: true });
  }

  /** Returns a free GPU for a run that starts now and may use any; undefined leaves the choice to the trainer. */
  async freeGpu(runId: string, entries: readonly QueueEntry[]): Promise<string | undefined> {
    const setting = getRun(this.parts.database, runId)?.device;
    if (setting !== 'auto' && setting !== 'cuda') return undefined;
    // The start reports why the devices can't be read.
    const devices = await this.freshDevices().catch(() => []);
    if (devicesFor('cuda', devices).length < 2) return undefined;
    const placement = place(setting, null, this.facts(devices, entries));
    return 'device' in placement ? placement.device.id : undefined;
  }

  private async freshDevices(): Promise<PoolDevice[]> {
    const start = Math.max(0, ...this.active().map(({ id }) => lastStart(this.parts.database, id) ?? 0));
    const devices = await this.parts.pool.devices(start === this.readAtStart ? maxAge : 0);
    this.readAtStart = start;
    return devices;
  }

  private async decide(
    entries: readonly QueueEntry[],
    devices: readonly PoolDevice[],
    { memory }: { memory: boolean },
  ): Promise<Next> {
    const { share } = this.parts.pool;
    const waits = new Map<string, string>();
    let stuck: string | null = null;
    let hasOther = false;
    /** Devices for which an earlier run waits. Later runs must not share them, because the earlier run would wait longer. */
    const closed = new Set<string>();
    for (const entry of entries) {
      if (entry.device) {
        hasOther = true;
        continue;
      }
      const setting = getRun(this.parts.database, entry.run)?.device;
      // It was deleted since the queue was read.
      if (setting === undefined) continue;
      const facts = () => this.facts(devices, entries, closed);
      let placement = place(setting, null, facts());
      // An earlier run that waits closes all busy devices; then memory decides only about free ones.
      const mayFit = 'device' in placement || (share && closed.size === 0);
      if (memory && setting !== 'cpu' && mayFit) {
        const bytes = await this.needOf(entry.run);
        placement = place(setting, bytes, facts());
      }
      if ('device' in placement) return { placed: { run: entry.run, device: placement.device }, waits, problem: null };
      if ('unknown' in placement)
        return { placed: { run: entry.run, device: unknownDevice(setting) }, waits, problem: null };
      waits.set(entry.run, placement.reason);
      if (placement.waits === 'aside') stuck ??= placement.reason;
      else hasOther = true;
      if (placement.waits === 'busy' && share)
        for (const { device } of facts().occupants) closed.add(deviceKey(device));
    }
    const problem = stuck && !hasOther ? this.asideProblem() : null;
    return { placed: null, waits, problem };
  }

  private async needOf(runId: string): Promise<number | null> {
    try {
      return await this.needs.of(runId, this.parts.runs.requireStartable(runId));
    } catch {
      // The start of the run reports why.
      return null;
    }
  }

  private facts(
    devices: readonly PoolDevice[],
    entries: readonly QueueEntry[],
    closed: ReadonlySet<string> = new Set(),
  ): PlacementFacts {
    const { pool } = this.parts;
    const aside = new Set(pool.aside.map(deviceKey));
    const occupants = this.occupants(entries, closed);
    return { devices, aside, occupants, share: pool.share, cores: availableCores() };
  }

  /** Returns the runs that train or load on this machine, and those that the queue is starting. */
  private occupants(entries: readonly QueueEntry[], closed: ReadonlySet<string>): Occupant[] {
    const { database, runs } = this.parts;
    const claims = entries.flatMap(({ run, device }) => (device ? [{ run, device }] : []));
    const claimed = new Set(claims.map(({ run }) => run));
    const occupant = (run: string, device: DeviceKey, loading: boolean): Occupant => {
      const isClosed = loading || closed.has(deviceKey(device));
      return { run, device, loading: isClosed, bytes: this.needs.planned(run) };
    };
    return [
      ...claims.map(({ run, device }) => occupant(run, device, true)),
      ...this.active()
        .filter(({ id }) => !claimed.has(id))
        .map(({ id, device }) => {
          const loading = runs.isLoading(id);
          const machine = loading ? null : lastMachine(database, id);
          const loadingOn = { id: runs.loadingDevice(id) ?? device };
          return occupant(id, machine ? { id: machine.device, uuid: machine.uuid } : loadingOn, loading);
        }),
    ];
  }

  private active() {
    const { database, runs, supervisor } = this.parts;
    return listRuns(database).filter(
      (row) => (supervisor.isActive(row) && (row.host === null || isLocal(row))) || runs.isLoading(row.id),
    );
  }

  private asideProblem(): ApiError {
    const devices = this.parts.pool.aside.map(({ id, problem }) => `${id}: ${problem.message}`);
    return {
      code: 'devices_set_aside',
      message: `All devices for the queued runs are set aside after failures. ${devices.join(' ')}`,
      hint: 'Check them with `starpo doctor`, then return them with `starpo queue restore DEVICE` or on the System page.',
    };
  }
}

const unknownDevice = (id: string): PoolDevice => ({ id, uuid: null, name: id, memoryBytes: null, freeBytes: null });
