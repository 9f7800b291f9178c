import type { Meaning } from '../run-directory/meaning.ts';
import { EventFile } from './tensorboard.ts';

/** One run's way from its journal into an event file. What can't be written isn't passed on, and may be passed again. */
export class TensorBoardRun {
  private readonly folder: string;
  private file: EventFile | null = null;
  private last = -1;

  /** In a folder of the run's own, which is made with the first metrics. */
  constructor(folder: string) {
    this.folder = folder;
  }

  /** `seq` of the last event that was passed on. */
  get seq(): number {
    return this.last;
  }

  pass({ seq, time }: { seq: number; time: number }, { begins, metrics }: Meaning): void {
    if (begins) this.file?.goesOnAfter(begins.after, time);
    if (metrics) {
      this.file ??= new EventFile(this.folder, time);
      this.file.add({ iteration: metrics.iteration, time, values: metrics.values });
    }
    this.last = seq;
  }

  close(): void {
    this.file?.close();
    this.file = null;
  }
}
