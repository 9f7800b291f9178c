import type { WriteStream } from 'node:tty';
import type { RunSummary } from '../contract/contract.ts';
import { durationText, printable } from './output.ts';

type Progress = Pick<RunSummary, 'iteration' | 'iterations' | 'phase' | 'etaSeconds'>;
export type Screen = Pick<WriteStream, 'write'> & { isTTY?: boolean; columns?: number };

const barWidth = 24;
/** Returns to the start of the line and clears it. */
const clear = '\r\u001b[2K';

/** A progress bar on the last line of a terminal; other lines are printed above it. Without a terminal, only those lines are printed. */
export class ProgressLine {
  private readonly screen: Screen;
  private readonly shows: boolean;
  private drawn = '';

  constructor(screen: Screen = process.stdout, terminal = process.env.TERM) {
    this.screen = screen;
    this.shows = screen.isTTY === true && terminal !== 'dumb';
  }

  print(line: string): void {
    const drawn = this.drawn;
    this.erase();
    this.screen.write(`${printable(line)}\n`);
    this.draw(drawn);
  }

  show(progress: Progress): void {
    this.showText(progressText(progress));
  }

  showText(text: string): void {
    if (!this.shows) return;
    // Some terminals report 0 columns.
    const line = text.slice(0, (this.screen.columns || 80) - 1);
    if (line === this.drawn) return;
    this.erase();
    this.draw(line);
  }

  erase(): void {
    if (this.drawn !== '') this.screen.write(clear);
    this.drawn = '';
  }

  private draw(line: string): void {
    if (line !== '') this.screen.write(line);
    this.drawn = line;
  }
}

/** `[######..................]  50 of 200  rollout 12 of 128  about 5 min left` */
export function progressText({ iteration, iterations, phase, etaSeconds }: Progress): string {
  const full = Math.round((barWidth * iteration) / Math.max(1, iterations));
  const bar = `[${'#'.repeat(full)}${'.'.repeat(barWidth - full)}]`;
  const steps = phase && phase.total > 1 ? ` ${phase.done} of ${phase.total}` : '';
  return [
    `${bar}  ${iteration} of ${iterations}`,
    ...(phase ? [`${phase.name}${steps}`] : []),
    ...(etaSeconds === null || iteration >= iterations ? [] : [`about ${durationText(etaSeconds)} left`]),
  ].join('  ');
}
