import uPlot from 'uplot';
import { type AxisKind, axisLabels } from './axes.ts';
import type { ChartSpec } from './chart-specs.ts';
import { drawReferenceLabels, drawReferences } from './draw-references.ts';
import { type Column, columnsOfAll, type Layout, layOut, manyLines, nearestAt, type Zoom } from './layout.ts';
import { type ChartMark, drawMarks } from './marks.ts';
import type { Reference } from './references.ts';
import { positionTicks, tickTexts, type ValueScale, valueRange, valueTicks } from './scale.ts';
import { seriesOf, type Trace } from './traces.ts';

export interface View extends ValueScale {
  zoom: Zoom;
  /** Weight of the moving average; 0 for raw values. */
  smoothing: number;
}

interface PlotOptions {
  spec: ChartSpec;
  traces: readonly Trace[];
  axis: AxisKind;
  /** True if lines are smoothed and raw values are drawn behind them. */
  smoothed: boolean;
  width: number;
  height: number;
  view: () => View;
  marks: () => readonly ChartMark[];
  references: () => readonly Reference[];
  onZoom: (zoom: Zoom | null) => void;
  /** Called with the position under the pointer and the pointer's window coordinates; null when it leaves. */
  onCursor: (position: number | null, at: { x: number; y: number } | null) => void;
}

export interface Plot {
  /** Draws the current data. */
  update(): void;
  updateMarks(): void;
  /** Moves or hides the cross-hair. */
  moveCursor(position: number | null): void;
  /** Returns the value at a window height. */
  valueAt(clientY: number): number;
  resize(width: number, height: number): void;
  destroy(): void;
}

const axisSize = 50;
const axisGap = 6;

export function createPlot(target: HTMLElement, options: PlotOptions): Plot {
  const { spec, traces, axis } = options;
  const columns = columnsOfAll(traces, options.smoothed);
  const style = getComputedStyle(target);
  const color = (name: string) => style.getPropertyValue(`--${name}`).trim();
  let { width } = options;
  let layout: Layout;
  const layOutData = () => {
    const pixels = Math.max(50, width - axisSize);
    layout = layOut(columns, { ...options.view(), width: pixels });
    for (const { trace, after, upTo } of layout.coarse)
      trace.source.refine?.(trace.metric, after, upTo, Math.ceil(pixels));
    return [layout.x, ...layout.values] as uPlot.AlignedData;
  };
  const initial = layOutData();
  /** True while the cross-hair follows another chart's, until the pointer moves on this chart. */
  let following = false;

  const plot = new uPlot(
    {
      width,
      height: options.height,
      legend: { show: false },
      padding: [8, 16, 0, 0],
      cursor: {
        y: false,
        drag: { x: true, y: false, setScale: false },
        points: {
          // Bands, raw values and crowded lines have no points at the cross-hair.
          show: (_self, index) =>
            columns[index - 1]!.role === 'line' && traces.length <= manyLines
              ? document.createElement('div')
              : (false as never),
          size: 7,
          width: 1.5,
        },
        move: (self, left, top) => {
          const position = following || left < 0 ? null : nearestPosition(traces, self.posToVal(left, 'x'));
          const snapped = position === null ? left : self.valToPos(position, 'x');
          return [snapped >= 0 && snapped <= widthOf(self) ? snapped : left, top];
        },
        bind: {
          mousemove: (_self, _target, handle) => (event) => {
            following = false;
            handle(event);
            return null;
          },
          dblclick: () => () => {
            options.onZoom(null);
            return null;
          },
        },
      },
      scales: {
        x: { time: false, range: () => rangeOf(options.view().zoom) },
        y: {
          range: () => {
            const view = options.view();
            const included = options.references().map(({ value }) => value);
            return valueRange(layout, columns, spec, view, view.zoom, included);
          },
        },
      },
      axes: [positionAxis(color, axis), valueAxis(color, spec, () => options.view().log)],
      series: [
        {},
        ...columns.map((column) => seriesOptions(column, color, () => layout.dense, traces.length > manyLines)),
      ],
      bands: bandsOf(columns, color, () => layout.dense),
      hooks: {
        // Drawn before the lines, which stay on top.
        drawAxes: [(self) => drawReferences(self, options.references(), options.view().log, color)],
        draw: [
          (self) => drawReferenceLabels(self, options.references(), options.view().log, color),
          (self) => drawMarks(self, options.marks()),
        ],
        setSelect: [
          (self) => {
            if (self.select.width < 6) return;
            const min = self.posToVal(self.select.left, 'x');
            const max = self.posToVal(self.select.left + self.select.width, 'x');
            self.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
            const integer = axis === 'iteration';
            if (max > min && (!integer || max - min >= 1))
              options.onZoom(integer ? { min: Math.floor(min), max: Math.ceil(max) } : { min, max });
          },
        ],
        setCursor: [
          (self) => {
            const { left = -1, top = -1 } = self.cursor;
            if (following) return;
            if (left < 0) options.onCursor(null, null);
            else options.onCursor(self.posToVal(left, 'x'), { x: self.rect.x + left, y: self.rect.y + top });
          },
        ],
      },
    },
    initial,
    target,
  );

  return {
    update: () => plot.batch(() => plot.setData(layOutData(), true)),
    updateMarks: () => drawMarks(plot, options.marks()),
    moveCursor(position) {
      following = true;
      const left = position === null ? -10 : plot.valToPos(position, 'x');
      const inside = left >= 0 && left <= widthOf(plot);
      plot.setCursor({ left: inside ? left : -10, top: inside ? 0 : -10 }, false);
    },
    valueAt(clientY) {
      const value = plot.posToVal(clientY - plot.rect.top, 'y');
      return options.view().log ? 10 ** value : value;
    },
    resize(newWidth, newHeight) {
      width = newWidth;
      plot.batch(() => {
        plot.setSize({ width: newWidth, height: newHeight });
        plot.setData(layOutData(), true);
      });
    },
    destroy: () => plot.destroy(),
  };
}

/** Returns the width of the plot area without axes, in CSS pixels. */
const widthOf = ({ bbox }: uPlot) => bbox.width / uPlot.pxRatio;

const rangeOf = ({ min, max }: Zoom): [number, number] => [min, max > min ? max : min + 1];

/** Returns the nearest position at which any line has a point. */
function nearestPosition(traces: readonly Trace[], position: number): number | null {
  let nearest: number | null = null;
  for (const trace of traces) {
    const series = seriesOf(trace);
    if (!series || series.length === 0) continue;
    const positions = trace.positions.of(series);
    const candidate = positions[nearestAt(positions, position)]!;
    if (nearest === null || Math.abs(candidate - position) < Math.abs(nearest - position)) nearest = candidate;
  }
  return nearest;
}

const dashes = { dashed: [6, 4], dotted: [2, 3] };
/** Style of one line among many: simpler, because drawing is slow without a GPU. */
const longDashes = { dashed: [10, 6], dotted: [3, 6] };

function seriesOptions(
  { trace, role }: Column,
  color: (name: string) => string,
  isDense: () => boolean,
  isOneOfMany: boolean,
): uPlot.Series {
  const stroke = color(trace.color);
  const faint = translucent(stroke, 0.3);
  const strokeOf: Record<Column['role'], uPlot.Series.Stroke> = {
    line: trace.faint ? translucent(stroke, 0.4) : stroke,
    low: 'transparent',
    high: 'transparent',
    'raw-low': faint,
    'raw-high': faint,
  };
  return {
    stroke: strokeOf[role],
    // Thin lines are easier to distinguish and faster to draw without a GPU.
    width: role === 'line' && !isOneOfMany ? 1.75 : 1,
    ...(trace.dash && role === 'line' ? { dash: (isOneOfMany ? longDashes : dashes)[trace.dash] } : {}),
    spanGaps: true,
    points: {
      // One or two values are shown as points, because a single value has no line.
      show: () =>
        role === 'line' && !trace.faint && !isDense() && (trace.sparse === true || (seriesOf(trace)?.length ?? 0) < 3),
      size: 6,
      fill: stroke,
    },
  };
}

function bandsOf(columns: readonly Column[], color: (name: string) => string, isDense: () => boolean): uPlot.Band[] {
  return columns.flatMap(({ role, trace }, index): uPlot.Band[] => {
    const fill = translucent(color(trace.color), 0.14);
    const series: [number, number] = [index + 1, index + 2];
    if (role === 'high') return [{ series, fill }];
    if (role === 'raw-high') return [{ series, fill: () => (isDense() ? fill : 'transparent') }];
    return [];
  });
}

const font = '12px system-ui, sans-serif';

function commonAxis(color: (name: string) => string): uPlot.Axis {
  return {
    stroke: color('text-faint'),
    font,
    grid: { stroke: color('chart-grid'), width: 1 },
    ticks: { show: false },
  };
}

const positionAxis = (color: (name: string) => string, kind: AxisKind): uPlot.Axis => ({
  ...commonAxis(color),
  border: { show: true, stroke: color('line'), width: 1 },
  size: 24,
  gap: 5,
  splits: (self, _axis, low, high) => positionTicks(kind, low, high, widthOf(self) / 72),
  values: (_self, splits) => splits.map(axisLabels[kind].tick),
});

const valueAxis = (color: (name: string) => string, spec: ChartSpec, isLog: () => boolean): uPlot.Axis => ({
  ...commonAxis(color),
  // Equal for all charts, so that they align, except if a label needs more space.
  size: (self, texts) => Math.max(axisSize, axisGap + widestOf(self, texts ?? [])),
  gap: axisGap,
  splits: (self, _axis, low, high) =>
    valueTicks(low, high, Math.min(10, self.bbox.height / uPlot.pxRatio / 26), isLog()),
  values: (_self, splits) => tickTexts(spec, splits, isLog()),
});

/** Returns the width of the longest text in CSS pixels, rounded up. */
function widestOf({ ctx }: uPlot, texts: readonly string[]): number {
  ctx.save();
  ctx.font = font;
  const widths = texts.map((text) => ctx.measureText(text).width);
  ctx.restore();
  return Math.ceil(Math.max(0, ...widths));
}

/** Adds an opacity to a color of the form `#rrggbb`. */
function translucent(color: string, opacity: number): string {
  return `${color}${Math.round(opacity * 255)
    .toString(16)
    .padStart(2, '0')}`;
}
