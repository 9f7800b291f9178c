import uPlot from 'uplot';
import { align } from './align.ts';
import type { ChartSpec, LineSpec } from './chart-specs.ts';
import { type ChartMark, placeMarks } from './marks.ts';
import type { RunSeries } from './run-series.ts';

export interface Zoom {
  min: number;
  max: number;
}

/** One column of the plot: a line, the values behind a smoothed line, an edge of its band, or the same line of the run's parent. */
interface Column {
  metric: string;
  line: LineSpec;
  role: 'line' | 'raw' | 'low' | 'high' | 'parent';
}

interface PlotOptions {
  spec: ChartSpec;
  series: RunSeries;
  /** Drawn faint behind it. */
  parent: RunSeries | null;
  marks: () => readonly ChartMark[];
  smoothing: number;
  /** Charts of one key share the cross-hair. */
  syncKey: string;
  width: number;
  height: number;
  zoom: () => Zoom | null;
  onZoom: (zoom: Zoom | null) => void;
  /** The iteration under the cross-hair, null when it leaves. */
  onCursor: (iteration: number | null) => void;
}

export interface Plot {
  /** Draws what the series hold now. */
  update(): void;
  /** Puts the marks where they are now. */
  mark(): void;
  resize(width: number, height: number): void;
  destroy(): void;
}

export function createPlot(target: HTMLElement, options: PlotOptions): Plot {
  const { spec, series, parent, smoothing, width, height } = options;
  const own = spec.lines.flatMap((line) => columnsOf(line, smoothing));
  // First, so that it lies behind.
  const columns = [...(parent ? spec.lines.map(parentColumn) : []), ...own];
  const style = getComputedStyle(target);
  const color = (name: string) => style.getPropertyValue(`--${name}`).trim();
  const data = () =>
    align(
      columns.map(({ metric, line, role }) => ({
        series: (role === 'parent' ? parent : series)?.get(metric),
        smoothing: (role === 'line' || role === 'parent') && !line.sparse ? smoothing : 0,
      })),
    ) as uPlot.AlignedData;

  const plot = new uPlot(
    {
      width,
      height,
      legend: { show: false },
      padding: [8, 10, 0, 0],
      cursor: {
        y: false,
        drag: { x: true, y: false, setScale: false },
        // Neither the edges of a band nor the values behind a smoothed line carry a point of their own.
        points: { size: (_self, index) => (columns[index - 1]?.role === 'line' ? 7 : 0), width: 1.5 },
        sync: {
          key: options.syncKey,
          scales: ['x', null],
          filters: { pub: (type) => type === 'mousemove' || type === 'mouseleave' },
        },
        bind: {
          dblclick: () => () => {
            options.onZoom(null);
            return null;
          },
        },
      },
      scales: {
        x: { time: false, range: (self) => rangeOfIterations(self, options.zoom()) },
        y: { range: (_self, min, max) => rangeOfValues(spec, min, max) },
      },
      axes: [axis(color, 'x', spec), axis(color, 'y', spec)],
      series: [{}, ...columns.map((column) => drawn(column, color, series))],
      bands: bandsOf(columns, color),
      hooks: {
        draw: [(self) => placeMarks(self, options.marks())],
        setSelect: [
          (self) => {
            if (self.select.width < 6) return;
            const min = self.posToVal(self.select.left, 'x');
            const max = self.posToVal(self.select.left + self.select.width, 'x');
            self.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
            if (max - min >= 1) options.onZoom({ min: Math.floor(min), max: Math.ceil(max) });
          },
        ],
        setCursor: [
          (self) => {
            const { idx } = self.cursor;
            options.onCursor(idx === null || idx === undefined ? null : (self.data[0][idx] ?? null));
          },
        ],
      },
    },
    data(),
    target,
  );

  return {
    update: () => plot.setData(data(), true),
    mark: () => placeMarks(plot, options.marks()),
    resize: (newWidth, newHeight) => plot.setSize({ width: newWidth, height: newHeight }),
    destroy: () => plot.destroy(),
  };
}

const parentColumn = (line: LineSpec): Column => ({ metric: line.metric, line, role: 'parent' });

function columnsOf(line: LineSpec, smoothing: number): Column[] {
  const own: Column = { metric: line.metric, line, role: 'line' };
  if (line.band) {
    return [
      { metric: line.band.high, line, role: 'high' },
      { metric: line.band.low, line, role: 'low' },
      own,
    ];
  }
  return smoothing > 0 && !line.sparse ? [{ ...own, role: 'raw' }, own] : [own];
}

function drawn(
  { line, role, metric }: Column,
  color: (name: string) => string,
  series: RunSeries,
): uPlot.Series {
  const stroke = color(line.color);
  const edge = role === 'low' || role === 'high';
  if (role === 'parent') return { stroke: translucent(stroke, 0.4), width: 1.5, points: { show: false } };
  return {
    stroke: edge ? 'transparent' : role === 'raw' ? translucent(stroke, 0.28) : stroke,
    width: role === 'line' ? 1.75 : 1,
    ...(line.dashed && role === 'line' ? { dash: [5, 4] } : {}),
    points: {
      // A single value makes no line, so it is shown as a point.
      show: () => role === 'line' && (line.sparse === true || (series.get(metric)?.length ?? 0) < 3),
      size: 6,
      fill: stroke,
    },
  };
}

function bandsOf(columns: Column[], color: (name: string) => string): uPlot.Band[] {
  return columns.flatMap(({ role, line }, index) =>
    role === 'high'
      ? [{ series: [index + 1, index + 2] as [number, number], fill: translucent(color(line.color), 0.16) }]
      : [],
  );
}

function axis(color: (name: string) => string, scale: 'x' | 'y', spec: ChartSpec): uPlot.Axis {
  const lines = { stroke: color('chart-grid'), width: 1 };
  const common: uPlot.Axis = {
    stroke: color('text-faint'),
    font: '11px system-ui, sans-serif',
    grid: lines,
    ticks: { show: false },
    border: { show: scale === 'x', stroke: color('line'), width: 1 },
  };
  if (scale === 'x')
    return {
      ...common,
      size: 22,
      gap: 4,
      space: 56,
      incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000],
    };
  return {
    ...common,
    size: 46,
    gap: 5,
    space: 28,
    values: (_self, splits) => splits.map((value) => tick(spec, value)),
  };
}

/** Shares are whole per cents on the axis. */
function tick(spec: ChartSpec, value: number): string {
  if (spec.high === 1) return `${Math.round(value * 100)} %`;
  if (value === 0) return '0';
  return spec
    .format(value)
    .replace(/(\.\d*?)0+(?=k|M|$)/, '$1')
    .replace(/\.(?=k|M|$)/, '');
}

function rangeOfIterations(self: uPlot, zoom: Zoom | null): [number, number] {
  if (zoom) return [zoom.min, zoom.max];
  const axis = self.data[0];
  const first = axis[0] ?? 0;
  return [Math.min(first, 1), Math.max(axis.at(-1) ?? 0, first + 4)];
}

function rangeOfValues(spec: ChartSpec, min: number | null, max: number | null): [number, number] {
  const low = min ?? 0;
  const high = max ?? 1;
  const room = (high - low || Math.abs(high) || 1) * 0.1;
  return [spec.low ?? low - room, spec.high ?? high + room];
}

/** `color` as `#rrggbb`. */
function translucent(color: string, opacity: number): string {
  return `${color}${Math.round(opacity * 255)
    .toString(16)
    .padStart(2, '0')}`;
}
