import type { Meaning } from '../run-directory/meaning.ts';
import { EventFile } from './tensorboard.ts';

/** Writes a run's metrics to an event file. An event that can't be written can be passed again. */
export class TensorBoardRun {
  private readonly folder: string;
  private file: EventFile | null = null;
  private lastSeq = -1;

  /** `folder` is created with the first metrics. */
  constructor(folder: string) {
    this.folder = folder;
  }

  /** `seq` of the last written event. */
  get seq(): number {
    return this.lastSeq;
  }

  write({ seq, time }: { seq: number; time: number }, { begins, metrics }: Meaning): void {
    if (begins) this.file?.resumeAfter(begins.after, time);
    if (metrics) {
      this.file ??= new EventFile(this.folder, time);
      this.file.add({ iteration: metrics.iteration, time, values: metrics.values });
    }
    this.lastSeq = seq;
  }

  close(): void {
    this.file?.close();
    this.file = null;
  }
}
