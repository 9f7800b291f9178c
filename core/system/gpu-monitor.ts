import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { endChild } from '../base/process.ts';
import type { Machine, MachineSample } from '../contract/contract.ts';

/** A GPU and its current load. */
interface Gpu {
  card: Machine['gpus'][number];
  now: MachineSample['gpus'][number];
}

const fields = 'index,uuid,name,memory.total,memory.used,utilization.gpu,temperature.gpu,power.draw';

/**
 * Parses a line of `nvidia-smi --query-gpu`: MiB, percent, degrees and watts, or "[N/A]" if the driver does not report a value. Returns null for other
 * lines, such as error messages.
 */
export function parseGpuLine(line: string): (Gpu & { index: number }) | null {
  const [index = '', uuid, name, ...figures] = line.split(',').map((part) => part.trim());
  if (name === undefined || figures.length !== 5 || !/^\d+$/.test(index)) return null;
  const [total, used, busy, celsius, watts] = figures.map((figure) =>
    /^\d+(\.\d+)?$/.test(figure) ? Number(figure) : null,
  ) as [number | null, number | null, number | null, number | null, number | null];
  const bytes = (mebibytes: number | null) => (mebibytes === null ? null : mebibytes * 2 ** 20);
  return {
    index: Number(index),
    card: { name, uuid: uuid!, memoryBytes: bytes(total) },
    now: { busy: busy === null ? null : busy / 100, memoryBytes: bytes(used), celsius, watts },
  };
}

/** Polls NVIDIA's GPUs with nvidia-smi every few seconds. Reports none if the tool is not installed. */
export class GpuMonitor {
  private readonly gpus = new Map<number, Gpu>();
  private readonly child: ChildProcess;

  constructor(seconds: number, tool = 'nvidia-smi') {
    const args = [`--query-gpu=${fields}`, '--format=csv,noheader,nounits', '-l', String(seconds)];
    this.child = spawn(tool, args, { stdio: ['ignore', 'pipe', 'ignore'] });
    const forget = () => this.gpus.clear();
    this.child.once('error', forget);
    this.child.once('exit', forget);
    createInterface({ input: this.child.stdout! }).on('line', (line) => {
      const gpu = parseGpuLine(line);
      if (gpu) this.gpus.set(gpu.index, gpu);
    });
    // The tool must not keep this process alive.
    this.child.unref();
    (this.child.stdout as unknown as { unref?: () => void }).unref?.();
  }

  /** Returns the GPUs in the order of their indices. */
  list(): Gpu[] {
    return [...this.gpus].sort(([a], [b]) => a - b).map(([, gpu]) => gpu);
  }

  close(): void {
    endChild(this.child);
  }
}
