import { escaped } from '../../core/contract/markup.ts';
import { type AxisKind, axisLabels, byIteration } from './axes.ts';
import type { ChartSpec } from './chart-specs.ts';
import { columnsOfAll, layOut, type Values } from './layout.ts';
import type { ChartMark } from './marks.ts';
import type { View } from './plot.ts';
import type { Reference } from './references.ts';
import { positionTicks, tickTexts, valueRange, valueTicks } from './scale.ts';
import type { Trace } from './traces.ts';

/** A chart as shown, for a file. */
export interface Picture {
  spec: ChartSpec;
  traces: readonly Trace[];
  axis: AxisKind;
  view: View;
  marks: readonly ChartMark[];
  references: readonly Reference[];
  /** Name of the run or runs, shown below the title. */
  subtitle: string;
}

interface PictureStyle {
  width: number;
  height: number;
  /** Returns a custom property of the style sheets as `#rrggbb`. */
  color: (name: string) => string;
}

const margin = { left: 62, right: 18, bottom: 44 };
const entriesTop = 58;
const entryHeight = 20;
/** Approximate width of a letter in pixels. */
const letterWidth = 6.6;

/** Returns the chart as an SVG document: title, legend, axes, reference lines and marks. */
export function toSvg(picture: Picture, { width, height, color }: PictureStyle): string {
  const { spec, traces, axis, view, marks, references } = picture;
  const entries = layOutLegend(traces, width);
  const top = entriesTop + entries.rows * entryHeight + 8;
  const box = { left: margin.left, right: width - margin.right, top, bottom: height - margin.bottom };
  const columns = columnsOfAll(traces, view.smoothing > 0);
  const layout = layOut(columns, { ...view, width: box.right - box.left });
  const included = references.map(({ value }) => value);
  const [low, high] = valueRange(layout, columns, spec, view, view.zoom, included);
  const span = view.zoom.max - view.zoom.min || 1;
  const x = (position: number) => round(box.left + ((position - view.zoom.min) / span) * (box.right - box.left));
  const y = (value: number) => round(box.bottom - ((value - low) / (high - low || 1)) * (box.bottom - box.top));
  const heightOf = (value: number) => y(view.log ? Math.log10(value) : value);
  const parts: string[] = [];
  const add = (name: string, attributes: Record<string, string | number>, content = '') =>
    parts.push(element(name, attributes, content));
  const text = (content: string, at: { x: number; y: number }, more: Record<string, string | number> = {}) =>
    add('text', { ...at, fill: color('text-muted'), 'font-size': 12, ...more }, escapedXml(content));

  add('rect', { width, height, fill: color('panel') });
  text(spec.title, { x: 16, y: 28 }, { 'font-size': 16, 'font-weight': 600, fill: color('text') });
  text([picture.subtitle, spec.unit].filter(Boolean).join(', '), { x: 16, y: 47 });
  for (const { trace, left, row } of entries.placed) {
    const middle = entriesTop + row * entryHeight + 10;
    add('line', { x1: left, x2: left + 18, y1: middle, y2: middle, ...strokeOf(trace, color) });
    text(trace.label, { x: left + 24, y: middle + 4 });
  }
  const ticks = valueTicks(low, high, (box.bottom - box.top) / 40, view.log);
  const tickLabels = tickTexts(spec, ticks, view.log);
  for (const [index, value] of ticks.entries()) {
    add('line', { x1: box.left, x2: box.right, y1: y(value), y2: y(value), stroke: color('chart-grid') });
    text(tickLabels[index]!, { x: box.left - 8, y: y(value) + 4 }, { 'text-anchor': 'end' });
  }
  const positions = positionTicks(axis, view.zoom.min, view.zoom.max, (box.right - box.left) / 90);
  for (const [index, position] of positions.entries()) {
    add('line', {
      x1: x(position),
      x2: x(position),
      y1: box.top,
      y2: box.bottom,
      stroke: color('chart-grid'),
    });
    text(
      axisLabels[axis].tick(position, index, positions),
      { x: x(position), y: box.bottom + 18 },
      { 'text-anchor': 'middle' },
    );
  }
  text(`by ${axisLabels[axis].by}`, { x: box.right, y: height - 8 }, { 'text-anchor': 'end' });

  const plotted: string[] = [];
  for (const [index, { trace, role }] of columns.entries()) {
    const values = layout.values[index]!;
    const points = pointsOf(layout.x, values, x, y);
    if (points.length === 0) continue;
    const raw = role === 'raw-low' || role === 'raw-high';
    if (role === 'high' || role === 'raw-high') {
      const back = pointsOf(layout.x, layout.values[index + 1]!, x, y).reverse();
      plotted.push(element('path', { d: `${path([...points, ...back])}Z`, fill: color(trace.color), opacity: 0.14 }));
    }
    if (role === 'line' || raw) {
      const opacity = raw ? 0.3 : trace.faint ? 0.4 : 1;
      plotted.push(element('path', { d: path(points), fill: 'none', opacity, ...strokeOf(trace, color, raw) }));
    }
    if (role === 'line' && (trace.sparse || points.length < 3))
      for (const [cx, cy] of points) plotted.push(element('circle', { cx, cy, r: 3, fill: color(trace.color) }));
  }
  let before = { at: Number.NEGATIVE_INFINITY, left: 0 };
  for (const { value, label } of references) {
    if (view.log && value <= 0) continue;
    const at = heightOf(value);
    const stroke = { stroke: color('text-faint'), 'stroke-dasharray': '1 3' };
    plotted.push(element('line', { x1: box.left, x2: box.right, y1: at, y2: at, ...stroke }));
    const right = Math.abs(at - before.at) < 16 ? before.left - 14 : box.right - 4;
    const position = {
      x: right,
      y: at - 4,
      'text-anchor': 'end',
      'font-size': 12,
      fill: color('text-faint'),
    };
    plotted.push(element('text', position, escapedXml(label)));
    before = { at, left: right - label.length * letterWidth };
  }
  let labels = 0;
  for (const { iteration, positions = byIteration, title, label } of marks) {
    const at = x(positions.at(iteration));
    const line = {
      x1: at,
      x2: at,
      y1: box.top,
      y2: box.bottom,
      stroke: color('amber'),
      'stroke-dasharray': '3 3',
    };
    plotted.push(element('line', line, element('title', {}, escapedXml(title))));
    if (label === undefined) continue;
    const isRight = at > (box.left + box.right) / 2;
    const position = {
      x: at + (isRight ? -6 : 6),
      y: box.top + 14 + 16 * labels++,
      'text-anchor': isRight ? 'end' : 'start',
      'font-size': 12,
      fill: color('amber'),
    };
    plotted.push(element('text', position, escapedXml(label)));
  }
  // Unique, so that a page can contain several charts.
  const clipId = `plot-${spec.id.replace(/[^a-z0-9]/gi, '-')}`;
  const clip = { x: box.left, y: box.top - 1, width: box.right - box.left, height: box.bottom - box.top + 2 };
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" font-family="system-ui, sans-serif">`,
    element('clipPath', { id: clipId }, element('rect', clip)),
    ...parts,
    element('g', { 'clip-path': `url(#${clipId})` }, plotted.join('\n')),
    '</svg>\n',
  ].join('\n');
}

/** Arranges the legend's entries in rows, with estimated widths. */
function layOutLegend(traces: readonly Trace[], width: number) {
  let [left, row] = [16, 0];
  const placed = traces.map((trace) => {
    const entryWidth = 24 + trace.label.length * letterWidth + 18;
    if (left > 16 && left + entryWidth > width - 16) [left, row] = [16, row + 1];
    const at = { trace, left, row };
    left += entryWidth;
    return at;
  });
  return { placed, rows: placed.length > 0 ? row + 1 : 0 };
}

const dashes = { dashed: '6 4', dotted: '2 3' };

function strokeOf(trace: Trace, color: (name: string) => string, thin = false): Record<string, string | number> {
  return {
    stroke: color(trace.color),
    'stroke-width': thin ? 1 : 2,
    'stroke-linejoin': 'round',
    ...(trace.dash && !thin && { 'stroke-dasharray': dashes[trace.dash] }),
  };
}

type Point = [number, number];

function pointsOf(
  positions: readonly number[],
  values: Values,
  x: (position: number) => number,
  y: (value: number) => number,
): Point[] {
  return values.flatMap((value, index): Point[] => (value === undefined ? [] : [[x(positions[index]!), y(value)]]));
}

const path = (points: readonly Point[]) =>
  points.map(([x, y], index) => `${index === 0 ? 'M' : 'L'}${x} ${y}`).join('');

const round = (value: number) => Math.round(value * 100) / 100;

/** Returns an XML element. `content` is XML. */
export function element(name: string, attributes: Record<string, string | number>, content = ''): string {
  const text = Object.entries(attributes).map(([key, value]) => ` ${key}="${escapedXml(String(value))}"`);
  return content ? `<${name}${text.join('')}>${content}</${name}>` : `<${name}${text.join('')}/>`;
}

/** Escapes text and removes control characters, which XML can't contain. */
export const escapedXml = (text: string) => escaped(text.replace(/[\p{Cc}\uFFFE\uFFFF]/gu, ' '));
