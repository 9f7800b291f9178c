import type { WriteStream } from 'node:tty';
import type { RunSummary } from '../contract/contract.ts';
import { durationText } from './output.ts';

type Progress = Pick<RunSummary, 'iteration' | 'iterations' | 'phase' | 'etaSeconds'>;
/** What is needed of a terminal. */
export type Screen = Pick<WriteStream, 'write'> & { isTTY?: boolean; columns?: number };

const barWidth = 24;
/** Back to the line's beginning, and empties it. */
const clear = '\r\u001b[2K';

/** The last line of a terminal, which says how far a run or other work is; lines go above it. Where output is no terminal there are the lines alone. */
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
    this.screen.write(`${line}\n`);
    this.draw(drawn);
  }

  show(progress: Progress): void {
    this.showText(progressText(progress));
  }

  showText(text: string): void {
    if (!this.shows) return;
    // 0 where the terminal doesn't say.
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
