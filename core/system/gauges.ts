import { statfsSync } from 'node:fs';
import { cpus, freemem, release, totalmem, type } from 'node:os';
import type { Notices } from '../base/notices.ts';
import type { Machine, MachineSample } from '../contract/contract.ts';
import { GpuMonitor } from './gpu-monitor.ts';

/** Milliseconds between two samples, and how many are kept: an hour's. */
const interval = 5000;
const kept = 720;

/** What the machine does, sample by sample, in a core that stays. */
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

  /** Takes a sample every few seconds from now on. */
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
      cores: cpus().length,
      memoryBytes: totalmem(),
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
      time: Date.now(),
      cpu: Math.min(1, Math.max(0, cpu)),
      memoryBytes: totalmem() - freemem(),
      diskFreeBytes: disk(this.home).free,
      gpus: this.gpus?.list().map((gpu) => gpu.now) ?? [],
    };
    this.samples.push(sample);
    if (this.samples.length > kept) this.samples.shift();
    this.notices.emit('machine', sample);
  }
}

/** Milliseconds that all cores together were busy, and were there, since the system's start. */
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

/** Bytes of the disk that holds a folder; zeros where it can't be asked, as one that was just taken away. */
function disk(folder: string): { free: number; total: number } {
  try {
    const { bavail, blocks, bsize } = statfsSync(folder);
    return { free: bavail * bsize, total: blocks * bsize };
  } catch {
    return { free: 0, total: 0 };
  }
}
