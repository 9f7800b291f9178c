/** Decodes base64 in browsers and Node. */
function bytesOf(base64: string): DataView {
  const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  return new DataView(bytes.buffer);
}

/** Decodes little-endian int32 values. */
export function int32Array(base64: string): number[] {
  const view = bytesOf(base64);
  return Array.from({ length: view.byteLength >> 2 }, (_, index) => view.getInt32(index * 4, true));
}

/** Decodes little-endian float32 values. */
export function float32Array(base64: string): number[] {
  const view = bytesOf(base64);
  return Array.from({ length: view.byteLength >> 2 }, (_, index) => view.getFloat32(index * 4, true));
}

/** Decodes little-endian half-precision values. */
export function float16Array(base64: string): number[] {
  const view = bytesOf(base64);
  return Array.from({ length: view.byteLength >> 1 }, (_, index) => halfToNumber(view.getUint16(index * 2, true)));
}

function halfToNumber(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction ? Number.NaN : sign * Number.POSITIVE_INFINITY;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

/** Returns the mean of the finite values; 0 without any, as in a turn without sampled tokens. */
export function mean(values: readonly number[]): number {
  const finite = values.filter(Number.isFinite);
  return finite.length === 0 ? 0 : finite.reduce((sum, value) => sum + value, 0) / finite.length;
}
