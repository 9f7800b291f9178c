import uPlot from 'uplot';
import { type AxisPositions, byIteration } from './axes.ts';
import styles from './marks.module.css';
import type { SeriesSource } from './series-source.ts';
import type { Trace } from './traces.ts';

/** An event at an iteration, shown on all charts of its run. */
export interface ChartMark {
  id: string;
  iteration: number;
  /** Determines color and shape. */
  tone: 'watch' | 'warning' | 'critical' | 'fork';
  title: string;
  text: string;
  /** Text beside the line in a saved picture; none by default. */
  label?: string;
  /** Color of the run, if there are several. */
  color?: string;
  /** Positions of the run on the axis; default: iterations. */
  positions?: AxisPositions;
  /** The run, if there are several. */
  source?: SeriesSource;
}

/** Returns the marks of a chart, without those of runs that the chart has no line of. */
export const marksOf = (traces: readonly Trace[], marks: readonly ChartMark[]): ChartMark[] =>
  marks.filter(
    ({ source }) => !source || traces.some((trace) => trace.source === source && source.names().includes(trace.metric)),
  );

/** Marks of one kind that are too close to distinguish, drawn as one at the first position. */
interface Cluster {
  left: number;
  first: ChartMark;
  titles: string[];
}

/** Minimum distance of marks in pixels. */
const minDistance = 9;
/** Number of marks of a cluster that are listed. The rest is counted. */
const maxListed = 4;

/** Returns whether the pointer is over a mark, which has its own tooltip. */
export const isOnMark = (plot: Element): boolean => plot.querySelector(`.${styles.head}:hover`) !== null;

/** Draws the marks over a plot: a line with a symbol on top and a tooltip. */
export function drawMarks(plot: uPlot, marks: readonly ChartMark[]): void {
  const layer = layerOf(plot);
  const unused = new Map([...layer.children].map((child) => [(child as HTMLElement).dataset.id, child]));
  const width = plot.bbox.width / uPlot.pxRatio;
  const lefts = marks.map(({ positions = byIteration, iteration }) => plot.valToPos(positions.at(iteration), 'x'));
  for (const { left, first, titles } of clustersOf(marks, lefts, width)) {
    const element =
      (unused.get(first.id) as HTMLElement | undefined) ?? layer.appendChild(document.createElement('span'));
    unused.delete(first.id);
    fill(element, first, titles);
    element.style.color = first.color ? `var(--${first.color})` : '';
    element.style.left = `${left}px`;
    element.toggleAttribute('data-flipped', left > width / 2);
  }
  for (const element of unused.values()) element.remove();
}

/** Returns the visible marks from left to right, clustered. */
function clustersOf(marks: readonly ChartMark[], lefts: readonly number[], width: number): Cluster[] {
  const clusters: Cluster[] = [];
  const open = new Map<string, Cluster>();
  const order = [...marks.keys()].sort((a, b) => lefts[a]! - lefts[b]!);
  for (const index of order) {
    const [mark, left] = [marks[index]!, lefts[index]!];
    if (!(left >= 0 && left <= width)) continue;
    const kind = `${mark.tone} ${mark.color ?? ''}`;
    const before = open.get(kind);
    if (before && left - before.left < minDistance) before.titles.push(mark.title);
    else {
      const cluster = { left, first: mark, titles: [mark.title] };
      clusters.push(cluster);
      open.set(kind, cluster);
    }
  }
  return clusters;
}

function layerOf({ over }: uPlot): HTMLElement {
  const existing = over.querySelector<HTMLElement>(`.${styles.layer}`);
  if (existing) return existing;
  const layer = document.createElement('div');
  layer.className = styles.layer!;
  return over.appendChild(layer);
}

function fill(element: HTMLElement, { id, tone, text }: ChartMark, titles: readonly string[]): void {
  const more = titles.length - maxListed;
  const lines =
    titles.length === 1
      ? [text]
      : [...titles.slice(1, maxListed), ...(more > 0 ? [`and ${more} more; zoom in to separate them`] : [])];
  const tooltip = [titles[0]!, ...lines].join('\n');
  if (element.dataset.tooltip === tooltip && element.dataset.tone === tone) return;
  Object.assign(element.dataset, { id, tone, tooltip });
  element.className = styles.mark!;
  const head = document.createElement('span');
  head.className = styles.head!;
  const tip = document.createElement('span');
  tip.className = styles.tip!;
  const strong = document.createElement('strong');
  strong.textContent = titles[0]!;
  tip.append(strong, lines.join('\n'));
  element.replaceChildren(head, tip);
}
