import type uPlot from 'uplot';
import { expect, test } from 'vitest';
import { type ChartMark, drawMarks } from '../../renderer/charts/marks.ts';
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
