import { exportFileName } from '../../core/contract/file-names.ts';
import { saveFile } from '../api/files.ts';
import { axisLabels } from './axes.ts';
import { type Picture, toSvg } from './svg.ts';
import { seriesOf } from './traces.ts';

export type ExportKind = 'png' | 'svg' | 'csv';

/** Size in pixels. A PNG has twice the resolution. */
const size = { width: 960, height: 540 };

/** Saves a chart as currently shown, in the style of an element. Rejects if the browser can't draw it. */
export async function exportChart(kind: ExportKind, picture: Picture, styled: Element): Promise<void> {
  const color = colorsOf(styled);
  const name = exportFileName(picture.subtitle, picture.spec.title, kind);
  if (kind === 'csv') return saveFile(name, new Blob([toCsv(picture)], { type: 'text/csv' }));
  const svg = new Blob([toSvg(picture, { ...size, color })], { type: 'image/svg+xml' });
  saveFile(name, kind === 'svg' ? svg : await toPng(svg, size));
}

/** Returns a function that reads a custom property in the style of an element. */
export function colorsOf(styled: Element): (name: string) => string {
  const style = getComputedStyle(styled);
  return (name) => style.getPropertyValue(`--${name}`).trim();
}

/**
 * Returns a CSV with one row per iteration: measured values and, if smoothed, smoothed ones. For long series
 * a row is a bucket of iterations as on the chart: the last iteration, mean, minimum and maximum.
 */
export function toCsv({ traces, axis, spec, view: { smoothing } }: Picture): string {
  const columns = traces.flatMap((trace) => {
    const series = seriesOf(trace);
    if (!series) return [];
    const positions = trace.positions.of(series);
    const name = trace.label === spec.title ? trace.metric : `${trace.label}: ${trace.metric}`;
    const column = (title: string, values: Float64Array, write: Write = String) => ({
      ...{ title, series, values, write },
    });
    const counts = series.counts();
    return [
      ...(axis === 'iteration'
        ? []
        : [column(`${name} (by ${axisLabels[axis].by})`, positions, axis === 'clock' ? isoTime : String)]),
      column(counts ? `${name} (mean)` : name, series.values()),
      ...(counts
        ? [
            column(`${name} (min)`, series.min()),
            column(`${name} (max)`, series.max()),
            column(`${name} (iterations)`, counts),
          ]
        : []),
      ...(trace.sparse || smoothing <= 0
        ? []
        : [column(`${name} (smoothed ${smoothing})`, series.smoothed(smoothing))]),
    ];
  });
  const rows = new Map<number, string[]>();
  for (const [at, { series, values, write }] of columns.entries()) {
    series.iterations().forEach((iteration, index) => {
      const row = rows.get(iteration) ?? new Array<string>(columns.length).fill('');
      rows.set(iteration, row);
      row[at] = write(values[index]!);
    });
  }
  const head = ['iteration', ...columns.map(({ title }) => title)].map(cell).join(',');
  const body = [...rows].sort(([a], [b]) => a - b).map(([iteration, row]) => [iteration, ...row].join(','));
  return `${[head, ...body].join('\r\n')}\r\n`;
}

type Write = (value: number) => string;

const isoTime: Write = (time) => new Date(time).toISOString();

/** Quotes a cell if needed, and prevents spreadsheets from reading it as a formula. */
export function cell(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** Draws an SVG document of a size in pixels at twice the resolution. Rejects if the browser can't draw it. */
export async function toPng(svg: Blob, { width, height }: { width: number; height: number }): Promise<Blob> {
  const address = URL.createObjectURL(svg);
  try {
    const image = new Image();
    image.src = address;
    await image.decode();
    const canvas = document.createElement('canvas');
    canvas.width = width * 2;
    canvas.height = height * 2;
    canvas.getContext('2d')!.drawImage(image, 0, 0, canvas.width, canvas.height);
    return await new Promise<Blob>((resolve, reject) => {
      canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error('The browser could not create the image.'))));
    });
  } finally {
    URL.revokeObjectURL(address);
  }
}
