import { inOrder } from '../components/in-order.ts';

/** One outline of a drawing, in board units. The CSS class of its look defines fill and stroke. */
export interface Shape {
  look: string;
  /** Data of an SVG path. */
  d: string;
}

export const circle = (x: number, y: number, radius: number) => ellipse(x, y, radius, radius);

export const ellipse = (x: number, y: number, rx: number, ry: number) =>
  `M${x - rx} ${y}a${rx} ${ry} 0 1 0 ${2 * rx} 0a${rx} ${ry} 0 1 0 ${-2 * rx} 0z`;

export function box(x: number, y: number, width: number, height: number, radius = 0): string {
  if (radius === 0) return `M${x} ${y}h${width}v${height}h${-width}z`;
  const arc = (dx: number, dy: number) => `a${radius} ${radius} 0 0 1 ${dx} ${dy}`;
  const across = width - 2 * radius;
  const down = height - 2 * radius;
  return `M${x + radius} ${y}h${across}${arc(radius, radius)}v${down}${arc(-radius, radius)}h${-across}${arc(-radius, -radius)}v${-down}${arc(radius, -radius)}z`;
}

/** Renders shapes as SVG; canvas.ts does the same on a canvas. */
export function Shapes({ of, styles }: { of: readonly Shape[]; styles: Readonly<Record<string, string>> }) {
  return inOrder(of, ({ look, d }) => <path className={styles[look]} d={d} />);
}
