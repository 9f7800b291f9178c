import { Brush } from '../../environments/canvas.ts';
import { decodeImages } from '../../environments/images.ts';
import { packGif } from '../save/pictures.ts';
import { type Beat, beatsOf, type Clip, resultText, type Stage, stageTitle, successText } from './clip.ts';

/** Sizes in CSS pixels. */
interface Sizes {
  /** Longer side of the board. */
  board: number;
  title: number;
  text: number;
}

export const pageSizes: Sizes = { board: 208, title: 16, text: 12 };
const fileSizes: Sizes = { board: 360, title: 22, text: 14 };

/** Frames per action in a file. */
const framesPerAction = 3;

/** Draws a clip on a canvas: the checkpoint's title, the board, the result and the progress. */
export class ClipPicture {
  readonly width: number;
  readonly height: number;
  /** ms */
  readonly length: number;
  private readonly clip: Clip;
  private readonly beats: Beat[];
  private readonly sizes: Sizes;
  private readonly context: CanvasRenderingContext2D;
  private readonly color: (name: string) => string;
  private readonly font: string;
  private readonly brushes: readonly Brush[];
  private readonly margin: number;
  private readonly head: number;
  private readonly foot: number;
  private readonly boardHeight: number;

  /** Returns null if the canvas can't be drawn on. `pixels`: device pixels per CSS pixel. */
  static on(canvas: HTMLCanvasElement, clip: Clip, sizes: Sizes, pixels: number): ClipPicture | null {
    const context = canvas.getContext('2d', { willReadFrequently: sizes === fileSizes });
    return context && new ClipPicture(context, clip, sizes, pixels);
  }

  private constructor(context: CanvasRenderingContext2D, clip: Clip, sizes: Sizes, pixels: number) {
    const { board, title, text } = sizes;
    this.context = context;
    this.clip = clip;
    this.sizes = { board: board * pixels, title: title * pixels, text: text * pixels };
    this.beats = beatsOf(clip);
    this.length = this.beats.reduce((sum, { moving, standing }) => sum + moving + standing, 0);
    const style = getComputedStyle(document.body);
    this.color = (name) => style.getPropertyValue(name).trim();
    this.font = style.fontFamily;
    const longest = clip.stages.map(({ painting: { scene } }) => Math.max(scene.width, scene.height));
    this.brushes = clip.stages.map(({ painting }, at) => new Brush(painting.painter, this.sizes.board / longest[at]!));
    this.margin = this.sizes.text;
    this.head = this.sizes.title * 1.3 + this.sizes.text * 1.8;
    this.foot = this.sizes.text * 3;
    const size = (side: 'width' | 'height') =>
      Math.max(...clip.stages.map(({ painting }, at) => painting.scene[side] * this.brushes[at]!.scale));
    this.boardHeight = size('height');
    this.width = Math.round(Math.max(size('width'), this.sizes.board) + 2 * this.margin);
    this.height = Math.round(2 * this.margin + this.head + this.boardHeight + this.foot);
    context.canvas.width = this.width;
    context.canvas.height = this.height;
  }

  /** Draws the clip at a time in ms. `still`: without motion between frames. */
  drawAt(time: number, still: boolean): void {
    let left = Math.min(time, this.length - 1);
    for (const beat of this.beats) {
      const { moving, standing } = beat;
      if (left < moving + standing) {
        this.draw(beat, still || moving === 0 ? 1 : Math.min(1, left / moving));
        return;
      }
      left -= moving + standing;
    }
  }

  /** `progress`: 0 to 1 on the way from the previous frame. */
  draw({ stage: at, index }: Beat, progress: number): void {
    const { context, margin, sizes, width, height } = this;
    const stage = this.clip.stages[at]!;
    context.fillStyle = this.color('--panel');
    context.fillRect(0, 0, width, height);
    this.write(stageTitle(stage), `600 ${sizes.title}px`, '--text', margin + sizes.title * 0.6);
    this.write(successText(stage), `${sizes.text}px`, '--text-muted', margin + sizes.title * 1.3 + sizes.text * 0.7);
    this.board(stage, this.brushes[at]!, index, progress);
    const below = margin + this.head + this.boardHeight;
    const [text, color] = resultAt(stage, index, progress);
    this.write(text, `500 ${sizes.text}px`, color, below + sizes.text * 1.1);
    this.drawProgress(at, below + sizes.text * 2.4);
  }

  private board({ painting: { scene } }: Stage, brush: Brush, index: number, progress: number): void {
    const { context } = this;
    const x = Math.round((this.width - scene.width * brush.scale) / 2);
    const y = Math.round(this.margin + this.head);
    context.save();
    context.translate(x, y);
    brush.ground(context, scene);
    context.restore();
    brush.pieces(context, scene.pieces(index, progress), x, y);
  }

  private write(text: string, font: string, color: string, middle: number): void {
    const { context, margin } = this;
    context.fillStyle = this.color(color);
    context.font = `${font} ${this.font}`;
    context.textAlign = 'left';
    context.textBaseline = 'middle';
    context.fillText(text, margin, middle, this.width - 2 * margin);
  }

  /** Draws a bar per stage, colored by its result. */
  private drawProgress(current: number, top: number): void {
    const { context, margin, sizes } = this;
    const { stages } = this.clip;
    const gap = sizes.text / 3;
    const width = (this.width - 2 * margin - gap * (stages.length - 1)) / stages.length;
    for (const [at, { summary }] of stages.entries()) {
      context.fillStyle = this.color(at > current ? '--line' : summary.success ? '--green' : '--red');
      context.fillRect(margin + at * (width + gap), top, width, sizes.text / 3);
    }
  }
}

/** Returns the text below the board and its color: the result once the stage has ended. */
function resultAt(stage: Stage, index: number, progress: number): [text: string, color: string] {
  const actions = stage.moved.filter((moved, at) => at > 0 && moved).length;
  if (index === stage.moved.length - 1 && progress === 1) {
    const text = resultText(stage);
    return [`${text[0]!.toUpperCase()}${text.slice(1)}`, stage.summary.success ? '--green' : '--red'];
  }
  const done = stage.moved.filter((moved, at) => at > 0 && at <= index && moved).length;
  return [done === 0 ? 'Start' : `Action ${done} of ${actions}`, '--text-muted'];
}

/** Encodes the clip as an animated GIF in a worker. */
export async function clipGif(clip: Clip): Promise<Blob> {
  await decodeImages(clip.stages.flatMap(({ painting }) => painting.scene.images ?? []));
  const canvas = document.createElement('canvas');
  const picture = ClipPicture.on(canvas, clip, fileSizes, 1);
  if (!picture) throw new Error("This browser can't draw on a canvas.");
  return packGif(canvas, (add) => {
    for (const beat of beatsOf(clip)) {
      for (let step = 1; beat.moving > 0 && step < framesPerAction; step++) {
        picture.draw(beat, step / framesPerAction);
        add(beat.moving / framesPerAction);
      }
      picture.draw(beat, 1);
      add(beat.standing + (beat.moving > 0 ? beat.moving / framesPerAction : 0));
    }
  });
}
