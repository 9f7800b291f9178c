import { encode } from 'modern-gif';

/** An animation: pictures of one size as RGBA, each with how long it is shown, ms. */
export interface Animation {
  width: number;
  height: number;
  frames: { data: Uint8ClampedArray<ArrayBuffer>; delay: number }[];
}

self.onmessage = ({ data }: MessageEvent<Animation>) =>
  void encode({ ...data, maxColors: 128 }).then(
    (gif) => self.postMessage(gif, { transfer: [gif] }),
    // What a promise fails with isn't told to the page by itself.
    (error) => self.reportError(error),
  );
