import { frames } from '../base/frame-scheduler.ts';
import { Brush } from '../environments/canvas.ts';
import type { Painter } from '../environments/environment.ts';
import { onImageDecoded } from '../environments/images.ts';
import type { Painting } from '../player/paintings.ts';
import { gap, type WallLayout } from './wall-layout.ts';

/** Times in milliseconds. */
const actionTime = 420;
const motionTime = 260;
/** Fade of the frame around a solved board, and of the tint over a failed one. */
const endTime = 700;
/** Time for which the final frames stay before the next boards. */
export const restTime = 1200;
/** Time from a drawn frame to the request for the next. 20 frames per second are enough for small boards and leave CPU time to training. */
const frameTime = 40;
/** With more boards than this, each frame redraws only a part of them, in turns. */
const maxPerFrame = 128;

/** `level` is equal for boards with the same background. */
export interface WallBoard {
  painting: Painting;
  level: string;
  result: 'success' | 'failed' | 'void';
  /** Index of the group on the wall, and of the board in its group. */
  group: number;
  member: number;
}

/** Colors of the marks, the same in both themes because boards are. */
const resultColors = { failed: '#2b3a4d', void: '#f0c36a', tick: '#2a1d00', cross: '#ffffff' };

/** Returns a start delay, so that the boards don't all move in the same frame. */
const delayOf = ({ group, member }: WallBoard) => (((group * 7 + member * 3) % 16) / 16) * actionTime;

interface Drawn {
  x: number;
  y: number;
  /** The last drawn state, to skip unchanged boards. */
  state: number;
}

/**
 * Plays all boards of a rollout on one canvas, outside React. Each animation frame redraws the boards that
 * have changed. After all boards have shown their final frames, it calls `onEnd` and stops.
 */
export class WallPlayer {
  private readonly canvas: HTMLCanvasElement;
  private readonly onEnd: () => void;
  private boards: readonly WallBoard[] = [];
  private layout: WallLayout | null = null;
  private drawn: Drawn[] = [];
  private brushes = new Map<Painter, Map<number, Brush>>();
  private grounds = new Map<string, HTMLCanvasElement>();
  /** Playing time in ms; advances only in animation frames. */
  private time = 0;
  private last = 0;
  private turn = 0;
  private playing = false;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private pixels = 1;
  private colors: { solvedColor: string; failedColor: string } = { solvedColor: '', failedColor: '' };

  constructor(canvas: HTMLCanvasElement, onEnd: () => void) {
    this.canvas = canvas;
    this.onEnd = onEnd;
  }

  /** Draws boards with images again when one was decoded. Returns a function that stops it. */
  followImages(): () => void {
    const stop = onImageDecoded(() => frames.schedule(this.redrawImages));
    return () => {
      stop();
      frames.cancel(this.redrawImages);
    };
  }

  private readonly redrawImages = (): void => {
    for (const [at, { painting }] of this.boards.entries())
      if (painting.scene.images && this.drawn[at]) this.drawn[at].state = Number.NaN;
    if (!this.playing) this.draw(1);
  };

  /** Replaces the boards and starts from the beginning. */
  show(boards: readonly WallBoard[], layout: WallLayout): void {
    this.boards = boards;
    this.time = 0;
    this.place(layout);
  }

  /** Redraws everything, after a change of size or theme. */
  place(layout: WallLayout): void {
    this.layout = layout;
    this.pixels = Math.max(1, globalThis.devicePixelRatio || 1);
    this.brushes.clear();
    this.grounds.clear();
    const style = getComputedStyle(this.canvas);
    this.colors = {
      solvedColor: style.getPropertyValue('--wall-gold').trim(),
      failedColor: style.getPropertyValue('--wall-deep').trim(),
    };
    const { pixels } = this;
    this.canvas.width = Math.round((this.canvas.parentElement?.clientWidth ?? 0) * pixels);
    this.canvas.height = Math.round(layout.total * pixels);
    this.drawn = this.boards.map(({ group, member }) => {
      const at = layout.groups[group]!;
      return {
        x: Math.round((at.x + (member % layout.across) * (layout.width + gap)) * pixels),
        y: Math.round((at.y + layout.caption + Math.floor(member / layout.across) * (layout.height + gap)) * pixels),
        state: Number.NaN,
      };
    });
    this.draw(1);
  }

  /** Starts or continues. Boards that have shown their final frames start again only after {@link show} or {@link restart}. */
  play(): void {
    if (this.playing || this.time > this.length + endTime + restTime) return;
    this.playing = true;
    this.last = performance.now();
    frames.schedule(this.tick);
  }

  /** Plays the same boards again. */
  restart(): void {
    this.time = 0;
    this.play();
  }

  pause(): void {
    this.playing = false;
    clearTimeout(this.timer);
    frames.cancel(this.tick);
  }

  /** Shows the final frames, for users who prefer reduced motion. */
  finish(): void {
    this.time = this.length + endTime;
    this.draw(1);
  }

  /** Duration of the longest episode, including its start delay. */
  private get length(): number {
    const count = Math.max(0, ...this.boards.map(({ painting }) => painting.count));
    return Math.max(0, count) * actionTime + motionTime;
  }

  private readonly tick = (): void => {
    if (!this.playing) return;
    const now = performance.now();
    // Continue from the same time after the browser paused animation frames.
    this.time += Math.min(now - this.last, 100);
    this.last = now;
    this.draw(Math.max(1, Math.ceil(this.boards.length / maxPerFrame)));
    if (this.time > this.length + endTime + restTime) {
      this.playing = false;
      this.draw(1);
      this.onEnd();
      return;
    }
    // Uses a timer, because animation frames cost time even if nothing is drawn.
    this.timer = setTimeout(() => frames.schedule(this.tick), frameTime);
  };

  /** Redraws every board with `turns` 1, otherwise one of `turns` subsets in turn. */
  private draw(turns: number): void {
    const context = this.canvas.getContext('2d');
    if (!context || !this.layout) return;
    this.turn = (this.turn + 1) % turns;
    for (const [at, board] of this.boards.entries()) {
      if (at % turns !== this.turn) continue;
      const drawn = this.drawn[at]!;
      const last = board.painting.count - 1;
      const time = Math.max(0, this.time - delayOf(board));
      const step = Math.floor(time / actionTime);
      const index = Math.min(step, last);
      const progress = step > last ? 1 : Math.min(1, (time - step * actionTime) / motionTime);
      const ended = Math.min(1, Math.max(0, (time - last * actionTime - motionTime) / endTime));
      // Frames of the same state look the same.
      const state = index + (progress === 1 ? 0.999 : progress * 0.99) + ended * 1e6;
      if (state === drawn.state) continue;
      drawn.state = state;
      this.drawBoard(context, board, drawn, index, index === 0 ? 1 : progress, ended);
    }
  }

  private drawBoard(
    context: CanvasRenderingContext2D,
    { painting, level, result }: WallBoard,
    { x, y }: Drawn,
    index: number,
    progress: number,
    ended: number,
  ): void {
    const { scene } = painting;
    const width = Math.round(this.layout!.width * this.pixels);
    const height = Math.round(this.layout!.height * this.pixels);
    const scale = Math.min(width / scene.width, height / scene.height);
    const brush = this.brush(painting.painter, scale);
    const left = x + Math.round((width - scene.width * scale) / 2);
    const top = y + Math.round((height - scene.height * scale) / 2);
    // Drawing the background erases moving pieces; only the final effects reach beyond the board.
    if (index === 0) context.clearRect(x, y, width, height);
    context.drawImage(this.ground(brush, painting, `${scale} ${level}`), left, top);
    brush.pieces(context, scene.pieces(index, progress), left, top);
    if (ended === 0) return;
    if (result === 'success') this.frameSolved(context, x, y, width, height, ended);
    if (result === 'failed') this.tintFailed(context, x, y, width, height, ended);
    if (ended === 1) this.drawResult(context, x, y, Math.min(width, height), result);
  }

  private frameSolved(
    context: CanvasRenderingContext2D,
    x: number,
    y: number,
    width: number,
    height: number,
    ended: number,
  ): void {
    const line = Math.max(1.5, width / 24) * Math.min(2, this.pixels);
    context.globalAlpha = ended;
    context.strokeStyle = this.colors.solvedColor;
    context.lineWidth = line;
    context.beginPath();
    context.roundRect(x + line / 2, y + line / 2, width - line, height - line, width / 12);
    context.stroke();
    context.globalAlpha = 1;
  }

  private tintFailed(
    context: CanvasRenderingContext2D,
    x: number,
    y: number,
    width: number,
    height: number,
    ended: number,
  ): void {
    const tinted = Math.round(height * ended);
    context.save();
    context.beginPath();
    context.roundRect(x, y, width, height, width / 12);
    context.clip();
    context.fillStyle = this.colors.failedColor;
    context.fillRect(x, y + height - tinted, width, tinted);
    context.restore();
  }

  /** Draws a tick, a cross or a bar (void) in the corner, which differ in shape on every background. */
  private drawResult(
    context: CanvasRenderingContext2D,
    x: number,
    y: number,
    side: number,
    result: WallBoard['result'],
  ): void {
    const size = Math.min(side, Math.max(10 * this.pixels, 0.3 * side));
    const at = (across: number, down: number) => [x + across * size, y + down * size] as const;
    context.save();
    context.beginPath();
    context.arc(...at(0.5, 0.5), size / 2, 0, 2 * Math.PI);
    context.fillStyle = result === 'success' ? this.colors.solvedColor : resultColors[result];
    context.fill();
    context.beginPath();
    const lines = {
      success: [[at(0.26, 0.52), at(0.44, 0.7), at(0.75, 0.32)]],
      failed: [
        [at(0.31, 0.31), at(0.69, 0.69)],
        [at(0.69, 0.31), at(0.31, 0.69)],
      ],
      void: [[at(0.28, 0.5), at(0.72, 0.5)]],
    }[result];
    for (const [start, ...others] of lines) {
      context.moveTo(...start!);
      for (const point of others) context.lineTo(...point);
    }
    context.strokeStyle = result === 'failed' ? resultColors.cross : resultColors.tick;
    context.lineWidth = Math.max(1.2 * this.pixels, size / 8);
    context.stroke();
    context.restore();
  }

  private brush(painter: Painter, scale: number): Brush {
    const ofPainter = this.brushes.get(painter) ?? new Map<number, Brush>();
    this.brushes.set(painter, ofPainter);
    const brush = ofPainter.get(scale) ?? new Brush(painter, scale);
    ofPainter.set(scale, brush);
    return brush;
  }

  private ground(brush: Brush, { scene }: Painting, key: string): HTMLCanvasElement {
    const cached = this.grounds.get(key);
    if (cached) return cached;
    const picture = document.createElement('canvas');
    picture.width = Math.max(1, Math.round(scene.width * brush.scale));
    picture.height = Math.max(1, Math.round(scene.height * brush.scale));
    const context = picture.getContext('2d');
    if (context) brush.ground(context, scene);
    this.grounds.set(key, picture);
    return picture;
  }
}
