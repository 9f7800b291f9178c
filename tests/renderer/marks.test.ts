import type uPlot from 'uplot';
import { expect, test } from 'vitest';
import { type ChartMark, drawMarks, marksOf } from '../../renderer/charts/marks.ts';
import type { SeriesSource } from '../../renderer/charts/series-source.ts';
import type { Trace } from '../../renderer/charts/traces.ts';
import StillPlot from './uplot.ts';

const mark = (iteration: number, tone: ChartMark['tone'] = 'critical'): ChartMark => ({
  id: `${tone} ${iteration}`,
  iteration,
  tone,
  title: `Alarm at iteration ${iteration}`,
  text: 'Success fell',
});

test('overlapping marks are merged until there is space; marks out of view are not drawn', () => {
  const plot = new StillPlot({ hooks: { draw: [], setSelect: [] } }, null, document.body);
  const position = (marks: readonly ChartMark[]) => {
    drawMarks(plot as unknown as uPlot, marks);
    return [...plot.over.querySelectorAll<HTMLElement>('[data-tooltip]')].map(({ dataset: { tooltip } }) => tooltip);
  };
  const marks = [mark(8), mark(100), mark(4), mark(6, 'fork'), mark(2000)];
  expect(position(marks)).toEqual([
    'Alarm at iteration 4\nAlarm at iteration 8',
    'Alarm at iteration 6\nSuccess fell',
    'Alarm at iteration 100\nSuccess fell',
  ]);
  const many = Array.from({ length: 8 }, (_, index) => mark(index + 1));
  expect(position(many)).toEqual([
    [1, 2, 3, 4].map((iteration) => `Alarm at iteration ${iteration}`).join('\n') +
      '\nand 4 more; zoom in to separate them',
  ]);
  plot.valToPos = (iteration) => 20 * iteration;
  expect(position(many)).toHaveLength(8);
});

test('a chart shows only the marks of the runs of its lines', () => {
  const source = (...names: string[]) => ({ names: () => names }) as SeriesSource;
  const [evaluated, trained] = [source('evaluation/lake/success_rate'), source('actor/loss')];
  const marks = [mark(1), { ...mark(2), source: evaluated }, { ...mark(3), source: trained }];
  const lines = [evaluated, trained].map((each) => ({ source: each, metric: 'actor/loss' }) as Trace);
  expect(marksOf(lines, marks).map(({ iteration }) => iteration)).toEqual([1, 3]);
});
