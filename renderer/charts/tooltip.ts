import { count } from '../../core/contract/numbers.ts';
import { type AxisKind, axisLabels } from './axes.ts';
import type { ChartSpec } from './chart-specs.ts';
import { nearestAt } from './layout.ts';
import styles from './tooltip.module.css';
import { type Reading, readingAt, seriesOf, type Trace } from './traces.ts';

const maxLines = 12;
/** With more lines than this, the raw values are left out. */
const maxLinesWithRaw = 6;

interface Tip {
  /** Describes the position of the cross-hair. */
  title: string;
  lines: TipLine[];
  /** Number of lines that are not shown. */
  more: number;
}

interface TipLine {
  label: string;
  color: string;
  dash: Trace['dash'] | 'faint' | undefined;
  /** The value drawn as the line. */
  value: string;
  /** The raw value if the line is smoothed, the interval, and the iteration if it isn't at the cross-hair. */
  notes: string[];
}

/**
 * Returns the values near a position. `height`: the pointer's height as a value, to select the nearest of
 * many lines.
 */
export function tipAt(
  spec: ChartSpec,
  traces: readonly Trace[],
  axis: AxisKind,
  position: number,
  smoothing: number,
  height: number | null = null,
): Tip {
  const readings = readingsAt(traces, position, smoothing);
  const distance = ({ smoothed }: Reading) => (height === null ? 0 : Math.abs(smoothed - height));
  const selected =
    readings.length > maxLines
      ? new Set(readings.toSorted((a, b) => distance(a) - distance(b)).slice(0, maxLines))
      : new Set(readings);
  const lines = readings.filter((reading) => selected.has(reading));
  // Many lines are sorted by height, as on the chart.
  if (readings.length > 4) lines.sort((a, b) => b.smoothed - a.smoothed);
  const iterations = new Set(lines.map(({ iteration }) => iteration));
  const positionText = axisLabels[axis].position(position);
  const [only] = iterations;
  const title = axis !== 'iteration' && iterations.size === 1 ? `${positionText}, iteration ${only}` : positionText;
  return {
    title,
    lines: lines.map((reading) =>
      lineOf(spec, reading, axis, position, iterations.size > 1, lines.length <= maxLinesWithRaw ? smoothing : 0),
    ),
    more: readings.length - lines.length,
  };
}

export function readingsAt(traces: readonly Trace[], position: number, smoothing: number): Reading[] {
  return traces.flatMap((trace) => {
    const series = seriesOf(trace);
    if (!series || series.length === 0) return [];
    return readingAt(trace, nearestAt(trace.positions.of(series), position), smoothing) ?? [];
  });
}

function lineOf(
  { format }: ChartSpec,
  { trace, position: readingPosition, iteration, value, smoothed, bucket, band }: Reading,
  axis: AxisKind,
  position: number,
  showsIteration: boolean,
  /** 0 hides the raw value. */
  smoothing: number,
): TipLine {
  const elsewhere = axis === 'iteration' ? readingPosition !== position : showsIteration;
  const isSmoothed = smoothing > 0 && !trace.sparse;
  return {
    label: trace.label,
    color: trace.color,
    dash: trace.faint ? 'faint' : trace.dash,
    value: format(smoothed),
    notes: [
      ...(band ? [`${format(band.low)} to ${format(band.high)}`] : []),
      ...(bucket
        ? [`${format(bucket.min)} to ${format(bucket.max)} in ${bucket.count} iterations`]
        : isSmoothed
          ? [`raw ${format(value)}`]
          : []),
      ...(elsewhere ? [`at iteration ${iteration}`] : []),
    ],
  };
}

let box: HTMLElement | null = null;

/** Shows the tooltip beside a point of the window. All charts share one. */
export function showTip({ title, lines, more }: Tip, { x, y }: { x: number; y: number }): void {
  if (!box) {
    box = createElement('div', styles.tip!);
    // After scrolling, the chart has moved.
    addEventListener('scroll', hideTip, { capture: true, passive: true });
  }
  if (!box.isConnected) document.body.append(box);
  const head = createElement('strong', styles.title!, title);
  const rows = lines.map(({ label, color, dash, value, notes }) => {
    const row = createElement('div', styles.row!);
    const key = createElement('span', styles.key!);
    key.dataset.dash = dash ?? '';
    key.style.color = `var(--${color})`;
    const name = createElement('span', styles.label!, label);
    const number = createElement('span', styles.value!, value);
    const note = createElement('span', styles.notes!, notes.join(', '));
    row.append(key, name, number, note);
    return row;
  });
  const rest = more > 0 ? [createElement('p', styles.more!, count(more, 'more line'))] : [];
  box.replaceChildren(head, ...rows, ...rest);
  box.hidden = false;
  const { offsetWidth: width, offsetHeight: height } = box;
  const left = x + 16 + width > innerWidth - 8 ? x - 16 - width : x + 16;
  const top = Math.min(y - height / 2, innerHeight - height - 8);
  box.style.transform = `translate(${Math.round(Math.max(8, left))}px, ${Math.round(Math.max(8, top))}px)`;
}

export function hideTip(): void {
  if (box) box.hidden = true;
}

function createElement(tag: string, className: string, text = ''): HTMLElement {
  const element = document.createElement(tag);
  element.className = className;
  element.textContent = text;
  if (tag === 'div') element.setAttribute('aria-hidden', 'true');
  return element;
}
