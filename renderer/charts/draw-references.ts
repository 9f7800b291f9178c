import uPlot from 'uplot';
import type { Reference } from './references.ts';

type Draw = (plot: uPlot, references: readonly Reference[], log: boolean, color: (name: string) => string) => void;

/** Draws a dotted line at each reference. */
export const drawReferences: Draw = (plot, references, log, color) => {
  const { ctx, bbox } = plot;
  const scale = uPlot.pxRatio;
  ctx.save();
  ctx.strokeStyle = color('text-faint');
  ctx.lineWidth = scale;
  ctx.setLineDash([scale, 3 * scale]);
  for (const { value } of references) {
    if (log && value <= 0) continue;
    const y = heightOf(plot, value, log);
    ctx.beginPath();
    ctx.moveTo(bbox.left, y);
    ctx.lineTo(bbox.left + bbox.width, y);
    ctx.stroke();
  }
  ctx.restore();
};

/** A rectangle of canvas pixels. */
interface Box {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

/**
 * Draws the label of each reference at its line: at the right edge, or further left or below the line if it covers less there. A background
 * keeps it readable.
 */
export const drawReferenceLabels: Draw = (plot, references, log, color) => {
  const { ctx, bbox } = plot;
  const scale = uPlot.pxRatio;
  const height = 16 * scale;
  ctx.save();
  ctx.font = `${12 * scale}px system-ui, sans-serif`;
  ctx.textAlign = 'right';
  ctx.textBaseline = 'middle';
  const taken: Box[] = [];
  const lines = references
    .filter(({ value }) => !log || value > 0)
    .map(({ value, label }) => ({ label, y: heightOf(plot, value, log) }));
  for (const { label, y } of lines) {
    const width = ctx.measureText(label).width + 6 * scale;
    const tops = [y - height, y + scale].filter((top) => top >= bbox.top && top + height <= bbox.top + bbox.height);
    const edge = bbox.left + bbox.width - scale;
    const places = [0, 0.2, 0.4, 0.6, 0.8, 1]
      .map((share) => edge - share * (bbox.width - width - 2 * scale))
      .flatMap((right) => tops.map((top): Box => ({ left: right - width, right, top, bottom: top + height })));
    const hidden = (box: Box) =>
      lines.filter((line) => line.y !== y && line.y >= box.top && line.y <= box.bottom).length +
      taken.filter((other) => overlaps(box, other)).length +
      crossingLines(plot, box);
    let box = places[0];
    let least = Number.POSITIVE_INFINITY;
    for (const place of places) {
      const count = hidden(place);
      if (count < least) [box, least] = [place, count];
      if (count === 0) break;
    }
    if (!box) continue;
    taken.push(box);
    ctx.globalAlpha = 0.8;
    ctx.fillStyle = color('panel');
    ctx.fillRect(box.left, box.top, width, height);
    ctx.globalAlpha = 1;
    ctx.fillStyle = color('text-faint');
    ctx.fillText(label, box.right - 3 * scale, box.top + height / 2);
  }
  ctx.restore();
};

const overlaps = (a: Box, b: Box) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;

/** Counts the chart's lines that may pass through the box: the range of their points within it and of one point on each side overlaps its height. */
function crossingLines(plot: uPlot, { left, right, top, bottom }: Box): number {
  const [positions, ...lines] = plot.data;
  const indexAt = (x: number) => plot.valToIdx(plot.posToVal(x, 'x', true));
  const [start, end] = [indexAt(left) - 1, indexAt(right) + 1];
  return lines.filter((values) => {
    const heightAt = (index: number) => (isNumber(values[index]) ? plot.valToPos(values[index], 'y', true) : null);
    // Gaps are drawn as lines between the points on both sides.
    let first = Math.max(0, start);
    while (first > 0 && heightAt(first) === null) first -= 1;
    let last = Math.min(positions.length - 1, end);
    while (last < positions.length - 1 && heightAt(last) === null) last += 1;
    let lowest = Number.NEGATIVE_INFINITY;
    let highest = Number.POSITIVE_INFINITY;
    for (let index = first; index <= last; index += 1) {
      const y = heightAt(index);
      if (y === null) continue;
      lowest = Math.max(lowest, y);
      highest = Math.min(highest, y);
    }
    return highest < bottom && lowest > top;
  }).length;
}

const isNumber = (value: number | null | undefined): value is number => typeof value === 'number';

const heightOf = (plot: uPlot, value: number, log: boolean) =>
  plot.valToPos(log ? Math.log10(value) : value, 'y', true);
