import { encode } from 'modern-gif';

/** Frames as RGBA, each with its duration in ms. */
export interface Animation {
  width: number;
  height: number;
  frames: { data: Uint8ClampedArray<ArrayBuffer>; delay: number }[];
}

self.onmessage = ({ data }: MessageEvent<Animation>) =>
  void encode({ ...data, maxColors: 128 }).then(
    (gif) => self.postMessage(gif, { transfer: [gif] }),
    // An unhandled rejection in a worker doesn't reach the page.
    (error) => self.reportError(error),
  );
