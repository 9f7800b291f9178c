import type { Replay } from '../../../core/contract/contract.ts';
import { Brush } from '../../environments/canvas.ts';
import { describeFrame } from '../../environments/describe.ts';
import { paintingOfReplay } from '../../player/paintings.ts';
import { restOf } from '../../player/player.ts';
import type { Animation } from './gif-worker.ts';
// As text in the page's own script: nothing is fetched any more when a GIF is saved.
import GifWorker from './gif-worker.ts?worker&inline';

/** Pixels of a board's longer side. */
const boardSize = 360;
const pageSize = 176;
const margin = 12;
const lineHeight = 34;

/** In-between pictures of a move, and how long each stands, ms. */
const between = 4;
const betweenTime = 60;
const endTime = 1600;

interface Picture {
  canvas: HTMLCanvasElement;
  context: CanvasRenderingContext2D;
  /** Draws a frame; `progress`: 0..1 of the way from the one before. */
  draw: (index: number, progress: number) => void;
}

/** A board at a size, with what happens in words below it where it is `told`. */
function pictureOf(replay: Replay, size: number, told: boolean): Picture | null {
  const { scene, painter } = paintingOfReplay(replay);
  const scale = size / Math.max(scene.width, scene.height);
  const canvas = document.createElement('canvas');
  const left = told ? margin : 0;
  canvas.width = Math.round(scene.width * scale) + 2 * left;
  canvas.height = Math.round(scene.height * scale) + 2 * left + (told ? lineHeight : 0);
  const context = canvas.getContext('2d', { willReadFrequently: true });
  if (!context) return null;
  const brush = new Brush(painter, scale);
  const { background, color, font } = colours();
  const draw = (index: number, progress: number) => {
    context.fillStyle = background;
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.save();
    context.translate(left, left);
    brush.ground(context, scene);
    context.restore();
    brush.pieces(context, scene.pieces(index, progress), left, left);
    if (!told) return;
    context.fillStyle = color;
    context.font = `14px ${font}`;
    context.textAlign = 'left';
    context.textBaseline = 'middle';
    const words = describeFrame(replay, index);
    context.fillText(words, margin, canvas.height - lineHeight / 2 - 2, canvas.width - 2 * margin);
  };
  return { canvas, context, draw };
}

function colours(): { background: string; color: string; font: string } {
  const { backgroundColor, color, fontFamily } = getComputedStyle(document.body);
  return { background: backgroundColor, color, font: fontFamily };
}

/** The episode as an animated GIF: its moves as the player shows them, at speed 1. */
export async function episodeGif(replay: Replay): Promise<Blob> {
  const picture = pictureOf(replay, boardSize, true);
  if (!picture) throw new Error('This browser draws on no canvas.');
  const { canvas, draw } = picture;
  return packGif(canvas, (add) => {
    for (const [index, frame] of replay.frames.entries()) {
      for (let step = 1; index > 0 && frame.action !== null && step < between; step++) {
        draw(index, step / between);
        add(betweenTime);
      }
      draw(index, 1);
      add(index === replay.frames.length - 1 ? endTime : restOf(replay.frames, index));
    }
  });
}

/** An animated GIF of what `play` draws on the canvas: `add` takes the picture that stands there, to be shown for so many ms. A worker packs it, and the page goes on meanwhile. */
export async function packGif(
  canvas: HTMLCanvasElement,
  play: (add: (delay: number) => void) => void,
): Promise<Blob> {
  const { width, height } = canvas;
  const context = canvas.getContext('2d')!;
  const frames: Animation['frames'] = [];
  play((delay) => frames.push({ data: context.getImageData(0, 0, width, height).data, delay }));
  return new Blob([await packed({ width, height, frames })], { type: 'image/gif' });
}

/** The pictures go to the worker, and are empty here afterwards. */
async function packed(animation: Animation): Promise<ArrayBuffer> {
  const worker = new GifWorker();
  try {
    return await new Promise((resolve, reject) => {
      worker.onmessage = ({ data }: MessageEvent<ArrayBuffer>) => resolve(data);
      worker.onerror = ({ message }) => reject(new Error(message || 'This browser starts no worker.'));
      worker.postMessage(
        animation,
        animation.frames.map(({ data }) => data.buffer),
      );
    });
  } finally {
    worker.terminate();
  }
}

/** Every frame's board as a PNG, as addresses that hold the picture itself; where none can be drawn, none. */
export function framePictures(replay: Replay): string[] {
  const picture = pictureOf(replay, pageSize, false);
  if (!picture) return [];
  return replay.frames.map((_, index) => {
    picture.draw(index, 1);
    return picture.canvas.toDataURL('image/png');
  });
}
