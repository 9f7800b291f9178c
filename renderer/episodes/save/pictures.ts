import type { Replay } from '../../../core/contract/contract.ts';
import { Brush } from '../../environments/canvas.ts';
import { describeFrame } from '../../environments/describe.ts';
import { decodeImages } from '../../environments/images.ts';
import { paintingOfReplay } from '../../player/paintings.ts';
import { restOf } from '../../player/player.ts';
import type { Animation } from './gif-worker.ts';
// Inlined as text, so that saving a GIF fetches nothing.
import GifWorker from './gif-worker.ts?worker&inline';

/** Longer side of a board in pixels. */
const boardSize = 360;
const pageSize = 176;
const margin = 12;
const lineHeight = 34;

/** Frames per action, and the duration of each in ms. */
const framesPerAction = 4;
const frameTime = 60;
const endTime = 1600;

interface Picture {
  canvas: HTMLCanvasElement;
  context: CanvasRenderingContext2D;
  /** Draws a frame. `progress`: 0 to 1 on the way from the previous one. */
  draw: (index: number, progress: number) => void;
}

/** Draws a board of a given size, with a caption if `captioned`. */
async function pictureOf(replay: Replay, size: number, captioned: boolean): Promise<Picture | null> {
  const { scene, painter } = paintingOfReplay(replay);
  await decodeImages(scene.images ?? []);
  const scale = size / Math.max(scene.width, scene.height);
  const canvas = document.createElement('canvas');
  const left = captioned ? margin : 0;
  canvas.width = Math.round(scene.width * scale) + 2 * left;
  canvas.height = Math.round(scene.height * scale) + 2 * left + (captioned ? lineHeight : 0);
  const context = canvas.getContext('2d', { willReadFrequently: true });
  if (!context) return null;
  const brush = new Brush(painter, scale);
  const { background, color, font } = pageColors();
  const draw = (index: number, progress: number) => {
    context.fillStyle = background;
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.save();
    context.translate(left, left);
    brush.ground(context, scene);
    context.restore();
    brush.pieces(context, scene.pieces(index, progress), left, left);
    if (!captioned) return;
    context.fillStyle = color;
    context.font = `14px ${font}`;
    context.textAlign = 'left';
    context.textBaseline = 'middle';
    const caption = describeFrame(replay, index);
    context.fillText(caption, margin, canvas.height - lineHeight / 2 - 2, canvas.width - 2 * margin);
  };
  return { canvas, context, draw };
}

function pageColors(): { background: string; color: string; font: string } {
  const { backgroundColor, color, fontFamily } = getComputedStyle(document.body);
  return { background: backgroundColor, color, font: fontFamily };
}

/** Encodes an episode as an animated GIF at speed 1. */
export async function episodeGif(replay: Replay): Promise<Blob> {
  const picture = await pictureOf(replay, boardSize, true);
  if (!picture) throw new Error("This browser can't draw on a canvas.");
  const { canvas, draw } = picture;
  return packGif(canvas, (add) => {
    for (const [index, frame] of replay.frames.entries()) {
      for (let step = 1; index > 0 && frame.action !== null && step < framesPerAction; step++) {
        draw(index, step / framesPerAction);
        add(frameTime);
      }
      draw(index, 1);
      add(index === replay.frames.length - 1 ? endTime : restOf(replay.frames, index));
    }
  });
}

/**
 * Encodes an animated GIF in a worker. `play` draws on the canvas and calls `add` with the duration of the
 * frame, in ms.
 */
export async function packGif(canvas: HTMLCanvasElement, play: (add: (delay: number) => void) => void): Promise<Blob> {
  const { width, height } = canvas;
  const context = canvas.getContext('2d')!;
  const frames: Animation['frames'] = [];
  play((delay) => frames.push({ data: context.getImageData(0, 0, width, height).data, delay }));
  return new Blob([await encode({ width, height, frames })], { type: 'image/gif' });
}

/** Encodes frames in a worker. Their data is transferred and no longer usable here. */
async function encode(animation: Animation): Promise<ArrayBuffer> {
  const worker = new GifWorker();
  try {
    return await new Promise((resolve, reject) => {
      worker.onmessage = ({ data }: MessageEvent<ArrayBuffer>) => resolve(data);
      worker.onerror = ({ message }) => reject(new Error(message || "This browser can't start a worker."));
      worker.postMessage(
        animation,
        animation.frames.map(({ data }) => data.buffer),
      );
    });
  } finally {
    worker.terminate();
  }
}

/** Returns every frame as a PNG data URL; none if they can't be drawn. */
export async function framePictures(replay: Replay): Promise<string[]> {
  const picture = await pictureOf(replay, pageSize, false);
  if (!picture) return [];
  return replay.frames.map((_, index) => {
    picture.draw(index, 1);
    return picture.canvas.toDataURL('image/png');
  });
}
