import type uPlot from 'uplot';
import { byIteration, type Places } from './axes.ts';
import styles from './marks.module.css';

/** Something that happened at an iteration, shown on every chart. */
export interface ChartMark {
  id: string;
  iteration: number;
  /** Its colour and its shape. */
  tone: 'watch' | 'warning' | 'critical' | 'fork';
  title: string;
  text: string;
  /** Of the run whose it is, as a custom property, where there are several. */
  color?: string;
  /** Of the run whose it is, where charts don't go by iteration. */
  places?: Places;
}

/** Puts the marks over a plot, as its scale stands now: a line with a shape at its head, whose words show under the pointer. */
export function placeMarks(plot: uPlot, marks: readonly ChartMark[]): void {
  const layer = layerOf(plot);
  const known = new Map([...layer.children].map((child) => [(child as HTMLElement).dataset.id, child]));
  const width = plot.over.clientWidth;
  for (const mark of marks) {
    const element =
      (known.get(mark.id) as HTMLElement | undefined) ?? layer.appendChild(document.createElement('span'));
    known.delete(mark.id);
    fill(element, mark);
    const left = plot.valToPos((mark.places ?? byIteration).at(mark.iteration), 'x');
    element.style.color = mark.color ? `var(--${mark.color})` : '';
    element.hidden = !(left >= 0 && left <= width);
    element.style.left = `${left}px`;
    element.toggleAttribute('data-flipped', left > width / 2);
  }
  for (const gone of known.values()) gone.remove();
}

function layerOf({ over }: uPlot): HTMLElement {
  const there = over.querySelector<HTMLElement>(`.${styles.layer}`);
  if (there) return there;
  const layer = document.createElement('div');
  layer.className = styles.layer!;
  return over.appendChild(layer);
}

function fill(element: HTMLElement, { id, tone, title, text }: ChartMark): void {
  const words = `${title}\n${text}`;
  if (element.dataset.words === words && element.dataset.tone === tone) return;
  Object.assign(element.dataset, { id, tone, words });
  element.className = styles.mark!;
  const head = document.createElement('span');
  head.className = styles.head!;
  const tip = document.createElement('span');
  tip.className = styles.tip!;
  const strong = document.createElement('strong');
  strong.textContent = title;
  tip.append(strong, text);
  element.replaceChildren(head, tip);
}
