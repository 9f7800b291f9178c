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

/** Draws the labels of the references on a background, so that they are readable on the run's lines. */
export const drawReferenceLabels: Draw = (plot, references, log, color) => {
  const { ctx, bbox } = plot;
  const scale = uPlot.pxRatio;
  ctx.save();
  ctx.font = `${12 * scale}px system-ui, sans-serif`;
  ctx.textAlign = 'right';
  // A label that would overlap another label moves to its left.
  let before = { y: Number.NEGATIVE_INFINITY, left: 0 };
  for (const { value, label } of references) {
    if (log && value <= 0) continue;
    const y = heightOf(plot, value, log);
    const below = y - bbox.top < 18 * scale;
    ctx.textBaseline = below ? 'top' : 'bottom';
    const edge = bbox.left + bbox.width - 4 * scale;
    const right = Math.abs(y - before.y) < 16 * scale ? before.left - 14 * scale : edge;
    const at = y + (below ? 3 : -2) * scale;
    const { width } = ctx.measureText(label);
    ctx.globalAlpha = 0.8;
    ctx.fillStyle = color('panel');
    ctx.fillRect(right - width - 3 * scale, below ? at : at - 14 * scale, width + 6 * scale, 14 * scale);
    ctx.globalAlpha = 1;
    ctx.fillStyle = color('text-faint');
    ctx.fillText(label, right, at);
    before = { y, left: right - width };
  }
  ctx.restore();
};

const heightOf = (plot: uPlot, value: number, log: boolean) =>
  plot.valToPos(log ? Math.log10(value) : value, 'y', true);
