/** Boards that are pictures: a data URL of a PNG, as docs/formats/process-environment.md describes. */

const prefix = 'data:image/png;base64,';
/** Limits of a picture: bytes, and pixels per side. */
const maxBytes = 100_000;
const maxPixels = 2048;
const signature = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];
/** Bytes up to the end of the first chunk's width and height. */
const headLength = 24;

/** Returns whether a board is meant as a picture, valid or not. */
export const isPicture = (board: string): boolean => board.startsWith('data:image/');

/** In pixels. */
export interface PictureSize {
  width: number;
  height: number;
}

/** Side in pixels to which small pictures are enlarged, as long as their pixels stay square and crisp. */
const shownSide = 480;

/** Returns the whole number by which the replay enlarges a picture. */
export const enlargement = ({ width, height }: PictureSize): number =>
  Math.max(1, Math.floor(shownSide / Math.max(width, height)));

/** Returns the size of a valid picture, or why it can't be shown. */
export function readPicture(board: string): PictureSize | string {
  if (!board.startsWith(prefix)) return 'it is not a PNG as a base64 data URL';
  const text = board.slice(prefix.length);
  if ((text.length * 3) / 4 > maxBytes + 2) return 'it exceeds 100 kB';
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(text) || text.length % 4 !== 0) return 'its base64 is invalid';
  const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  const head = new DataView(bytes.buffer);
  const isPng = bytes.length > headLength && signature.every((byte, index) => bytes[index] === byte);
  // "IHDR" is the type of the first chunk.
  if (!isPng || head.getUint32(12) !== 0x49484452) return 'it is not a PNG';
  const [width, height] = [head.getUint32(16), head.getUint32(20)];
  if (width < 1 || height < 1 || width > maxPixels || height > maxPixels)
    return `its size is ${width} × ${height} pixels; the limit is ${maxPixels} per side`;
  return { width, height };
}
