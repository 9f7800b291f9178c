/** A piecewise linear series: x0, y0, x1, y1, ... */
export type Shape = readonly number[];

export function interpolate(shape: Shape, at: number): number {
  let i = 0;
  while (i < shape.length && shape[i]! < at) i += 2;
  if (i === shape.length) return shape.at(-1)!;
  if (i === 0) return shape[1]!;
  const [x0, y0, x1, y1] = shape.slice(i - 2, i + 2) as [number, number, number, number];
  return y0 + ((y1 - y0) * (at - x0)) / (x1 - x0);
}
