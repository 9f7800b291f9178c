import { statfsSync } from 'node:fs';
import { cpus, release, type } from 'node:os';
import { availableCores, memory } from '../base/limits.ts';
import type { Notices } from '../base/notices.ts';
import type { Machine, MachineSample } from '../contract/contract.ts';
import { GpuMonitor } from './gpu-monitor.ts';

/** Sampling interval in ms. */
const interval = 5000;
/** Number of stored samples: one hour. */
const maxSamples = 720;

/** Samples the machine's load periodically. */
export class Gauges {
  private readonly home: string;
  private readonly notices: Notices;
  private readonly samples: MachineSample[] = [];
  private gpus: GpuMonitor | null = null;
  private timer: NodeJS.Timeout | null = null;
  private before = busyTime();

  constructor(home: string, notices: Notices) {
    this.home = home;
    this.notices = notices;
  }

  /** Starts sampling. */
  start(): void {
    if (this.timer) return;
    this.gpus = new GpuMonitor(interval / 1000);
    this.timer = setInterval(() => this.sample(), interval);
    this.timer.unref();
  }

  /** Returns the samples, after taking a first one if necessary. */
  read(): { machine: Machine; interval: number; samples: MachineSample[] } {
    this.start();
    if (this.samples.length === 0) this.sample();
    return { machine: this.machine(), interval, samples: [...this.samples] };
  }

  machine(): Machine {
    return {
      processor: cpus()[0]?.model.trim() ?? 'unknown',
      cores: availableCores(),
      memoryBytes: memory().total,
      diskBytes: disk(this.home).total,
      gpus: this.gpus?.list().map(({ card }) => card) ?? [],
      system: `${type()} ${release()}`,
      node: process.version,
    };
  }

  close(): void {
    if (this.timer) clearInterval(this.timer);
    this.gpus?.close();
  }

  private sample(): void {
    const now = busyTime();
    const all = now.all - this.before.all;
    const cpu = all > 0 ? (now.busy - this.before.busy) / all : 0;
    this.before = now;
    const sample: MachineSample = {
      cpu: Math.min(1, Math.max(0, cpu)),
      memoryBytes: memory().used,
      diskFreeBytes: disk(this.home).free,
      gpus: this.gpus?.list().map((gpu) => gpu.now) ?? [],
    };
    this.samples.push(sample);
    if (this.samples.length > maxSamples) this.samples.shift();
    this.notices.emit('machine', sample);
  }
}

/** Returns the busy and the total CPU time in ms, summed over cores, since the system started. */
function busyTime(): { busy: number; all: number } {
  let busy = 0;
  let all = 0;
  for (const { times } of cpus()) {
    const sum = times.user + times.nice + times.sys + times.idle + times.irq;
    all += sum;
    busy += sum - times.idle;
  }
  return { busy, all };
}

/** Returns the free and total bytes of a folder's disk; zeros if unavailable, for example after it was unmounted. */
function disk(folder: string): { free: number; total: number } {
  try {
    const { bavail, blocks, bsize } = statfsSync(folder);
    return { free: bavail * bsize, total: blocks * bsize };
  } catch {
    return { free: 0, total: 0 };
  }
}
