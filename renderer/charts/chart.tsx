import { memo, useEffect, useId, useRef, useSyncExternalStore } from 'react';
import { useTheme } from '../theme.ts';
import { useCharts, useChartsView } from '../views/charts-view.tsx';
import { indexAt } from './align.ts';
import type { ChartSpec } from './chart-specs.ts';
import { describeChart, describeMarks, describeParent } from './chart-text.ts';
import { frames } from './frame-scheduler.ts';
import type { ChartMark } from './marks.ts';
import type { MetricSeries } from './metric-series.ts';
import { createPlot, type Plot } from './plot.ts';
import { useChartPreferences } from './preferences.ts';
import type { RunSeries } from './run-series.ts';

const height = 158;

interface ChartProps {
  spec: ChartSpec;
  series: RunSeries;
  /** Of the run that this one parted from, drawn faint behind it. */
  parent?: RunSeries | null;
  marks?: readonly ChartMark[];
}

const noMarks: readonly ChartMark[] = [];

/** A titled chart that redraws itself from the series; React draws only the frame around it. */
export const Chart = memo(function Chart({ spec, series, parent = null, marks = noMarks }: ChartProps) {
  const drawn = useRef<Plot | null>(null);
  const newestMarks = useRef(marks);
  const target = useRef<HTMLDivElement>(null);
  const title = useId();
  const { store, syncKey } = useChartsView();
  const smoothing = useChartPreferences((state) => state.smoothing);
  const theme = useTheme((state) => state.theme);

  // biome-ignore lint/correctness/useExhaustiveDependencies: the theme's colours are read from the document
  useEffect(() => {
    const element = target.current!;
    const plot = createPlot(element, {
      spec,
      series,
      parent,
      marks: () => newestMarks.current,
      smoothing,
      syncKey,
      width: element.clientWidth,
      height,
      zoom: () => store.getState().zoom,
      onZoom: store.getState().setZoom,
      onCursor: store.getState().setCursor,
    });
    drawn.current = plot;
    const update = () => frames.schedule(plot.update);
    const stops = [
      series.subscribe(update),
      parent?.subscribe(update) ?? (() => {}),
      store.subscribe((state, before) => {
        if (state.zoom !== before.zoom) update();
      }),
    ];
    const observer = new ResizeObserver(() => plot.resize(element.clientWidth, height));
    observer.observe(element);
    return () => {
      for (const stop of stops) stop();
      observer.disconnect();
      frames.cancel(plot.update);
      plot.destroy();
      drawn.current = null;
    };
  }, [spec, series, parent, store, syncKey, smoothing, theme]);

  useEffect(() => {
    // A new plot has drawn its own.
    if (newestMarks.current === marks) return;
    newestMarks.current = marks;
    drawn.current?.mark();
  }, [marks]);

  return (
    <figure className="chart panel" data-wide={spec.wide || undefined} aria-labelledby={title}>
      <figcaption className="chart-head" data-many={spec.lines.length > 1 || undefined} title={spec.unit}>
        <h3 id={title}>{spec.title}</h3>
        <span className="faint chart-unit">{spec.unit}</span>
        <Values spec={spec} series={series} />
      </figcaption>
      <div className="chart-plot" ref={target} aria-hidden="true" />
      <ChartText spec={spec} series={series} parent={parent} marks={marks} />
    </figure>
  );
});

/** Newest values, or those under the cross-hair. */
function Values({ spec, series }: ChartProps) {
  useSyncExternalStore(series.subscribe, () => series.version);
  const cursor = useCharts((state) => state.cursor);
  return (
    <span className="chart-values">
      {spec.lines.map(({ metric, label, color, dashed, sparse }) => {
        const points = series.get(metric);
        const value = cursor === null ? points?.newest()?.value : points && valueAt(points, cursor, sparse);
        return (
          <span key={metric} className="chart-value">
            <span
              className="chart-key"
              data-dashed={dashed || undefined}
              style={{ color: `var(--${color})` }}
              aria-hidden="true"
            />
            {spec.lines.length > 1 && <span className="chart-label">{label}</span>}
            <strong>{value === undefined ? '–' : spec.format(value)}</strong>
          </span>
        );
      })}
    </span>
  );
}

/** An evaluation holds until the next one; everything else is of its iteration alone. */
function valueAt(points: MetricSeries, iteration: number, sparse = false): number | undefined {
  return sparse ? points.values()[indexAt(points.iterations(), iteration)] : points.at(iteration);
}

/** The chart in words and a few numbers, for those who don't see it. */
function ChartText({ spec, series, parent, marks = noMarks }: ChartProps) {
  useSyncExternalStore(series.subscribe, () => series.version);
  const words = [
    describeChart(spec, series),
    parent ? describeParent(spec, parent) : '',
    describeMarks(marks),
  ];
  return <p className="visually-hidden">{words.filter(Boolean).join(' ')}</p>;
}
