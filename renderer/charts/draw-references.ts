import uPlot from 'uplot';
import type { Reference } from './references.ts';

export function drawReferences(
  plot: uPlot,
  references: readonly Reference[],
  log: boolean,
  color: (name: string) => string,
): void {
  const { ctx, bbox } = plot;
  const scale = uPlot.pxRatio;
  ctx.save();
  ctx.font = `${12 * scale}px system-ui, sans-serif`;
  ctx.textAlign = 'right';
  // A label that would overlap another label moves to its left.
  let before = { y: Number.NEGATIVE_INFINITY, left: 0 };
  for (const { value, label } of references) {
    if (log && value <= 0) continue;
    const y = plot.valToPos(log ? Math.log10(value) : value, 'y', true);
    ctx.strokeStyle = color('text-faint');
    ctx.lineWidth = scale;
    ctx.setLineDash([scale, 3 * scale]);
    ctx.beginPath();
    ctx.moveTo(bbox.left, y);
    ctx.lineTo(bbox.left + bbox.width, y);
    ctx.stroke();
    const below = y - bbox.top < 18 * scale;
    ctx.textBaseline = below ? 'top' : 'bottom';
    const edge = bbox.left + bbox.width - 4 * scale;
    const right = Math.abs(y - before.y) < 16 * scale ? before.left - 14 * scale : edge;
    const at = y + (below ? 3 : -2) * scale;
    ctx.fillStyle = color('text-faint');
    ctx.fillText(label, right, at);
    before = { y, left: right - ctx.measureText(label).width };
  }
  ctx.restore();
}
