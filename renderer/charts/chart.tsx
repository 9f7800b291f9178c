import { memo, type ReactNode, useEffect, useId, useRef, useState } from 'react';
import { frames } from '../base/frame-scheduler.ts';
import { useTheme } from '../base/theme.ts';
import type { AxisKind } from './axes.ts';
import styles from './chart.module.css';
import type { ChartSpec } from './chart-specs.ts';
import { describeChart, describeMarks, describeReferences } from './chart-text.ts';
import { useChartsStore } from './charts-view.tsx';
import type { Zoom } from './layout.ts';
import { Legend } from './legend.tsx';
import { type ChartMark, isOnMark } from './marks.ts';
import { createPlot, type Plot, type View } from './plot.ts';
import { type ChartSize, useChartPreferences } from './preferences.ts';
import type { Reference } from './references.ts';
import { hideTip, showTip, tipAt } from './tooltip.ts';
import { hasValues, type Trace } from './traces.ts';
import { useInView } from './use-in-view.ts';
import { sourcesOf, useVersion } from './use-version.ts';

const heights: Record<ChartSize, number> = { small: 140, medium: 176, large: 260 };

interface ChartProps {
  spec: ChartSpec;
  traces: readonly Trace[];
  axis: AxisKind;
  /** Returns the full range of the axis. */
  extent: () => Zoom;
  marks?: readonly ChartMark[];
  references?: readonly Reference[];
  /** Content above the plot. */
  headline?: ReactNode;
  /** Actions after the title. */
  actions?: ReactNode;
  /** Height of the plot in pixels. Default: the user's choice. */
  height?: number;
  /** False hides the legend, if lines are named elsewhere. */
  legend?: boolean;
}

export type ChartItem = Omit<ChartProps, 'actions' | 'height' | 'marks'>;

const noMarks: readonly ChartMark[] = [];
const noReferences: readonly Reference[] = [];

/** A titled chart. It redraws from the series; React renders only the frame. */
export const Chart = memo(function Chart(props: ChartProps) {
  const { spec, traces, headline, actions, marks = noMarks, references = noReferences, legend = true } = props;
  const size = useChartPreferences((state) => state.size);
  const height = props.height ?? heights[size];
  const figure = useRef<HTMLElement>(null);
  const inView = useInView(figure);
  const title = useId();
  const filled = useVersion(traces, true, () => traces.some(hasValues));
  return (
    <figure
      className={`panel ${styles.chart} column`}
      data-chart={spec.id}
      data-empty={!filled || undefined}
      data-wide={spec.wide || undefined}
      aria-labelledby={title}
      ref={figure}
    >
      <figcaption className={`${styles.head} row`}>
        <div className={`${styles.titles} wrap`} title={spec.meaning}>
          <h3 id={title}>{spec.title}</h3>
          <span className="faint small">{spec.unit}</span>
        </div>
        <div className={styles.actions}>{actions}</div>
      </figcaption>
      {headline}
      {legend && <Legend spec={spec} traces={traces} inView={inView} />}
      <div className={styles.frame} style={{ height }}>
        {filled ? (
          <PlotArea {...props} height={height} inView={inView} />
        ) : (
          <div className={`${styles.skeleton} faint small`}>No data yet</div>
        )}
      </div>
      <ChartText spec={spec} traces={traces} marks={marks} references={references} />
    </figure>
  );
});

/** Shows the plot. It is created when first visible and redrawn while visible. */
function PlotArea({
  spec,
  traces,
  axis,
  extent,
  marks = noMarks,
  references = noReferences,
  height,
  inView,
}: ChartProps & { height: number; inView: boolean }) {
  const target = useRef<HTMLDivElement>(null);
  const plotRef = useRef<Plot | null>(null);
  const newest = useRef({ marks, references });
  const visible = useRef(inView);
  const stale = useRef(false);
  const [wasVisible, setWasVisible] = useState(inView);
  const store = useChartsStore();
  const smoothed = useChartPreferences((state) => state.smoothing > 0);
  const theme = useTheme((state) => state.theme);
  if (inView && !wasVisible) setWasVisible(true);

  // biome-ignore lint/correctness/useExhaustiveDependencies: the theme's colors are read from the document
  useEffect(() => {
    if (!wasVisible) return;
    const element = target.current!;
    const view = (): View => {
      const { smoothing, log, ignoreOutliers } = useChartPreferences.getState();
      const zoom = store.getState().zoom ?? extent();
      return { zoom, smoothing, log: log.includes(spec.id), ignoreOutliers };
    };
    let pointer: { position: number; at: { x: number; y: number } } | null = null;
    const updateTip = () => {
      if (!pointer) return;
      const { position, at } = pointer;
      if (isOnMark(element)) hideTip();
      else showTip(tipAt(spec, traces, axis, position, view().smoothing, plot.valueAt(at.y)), at);
    };
    const plot = createPlot(element, {
      spec,
      traces,
      axis,
      smoothed,
      width: element.clientWidth,
      height,
      view,
      marks: () => newest.current.marks,
      references: () => newest.current.references,
      onZoom: store.getState().setZoom,
      onCursor: (position, at) => {
        store.getState().setCursor(position, spec.id);
        pointer = position === null || !at ? null : { position, at };
        if (pointer) frames.schedule(updateTip);
        else hideTip();
      },
    });
    plotRef.current = plot;
    const update = () => {
      if (visible.current) frames.schedule(plot.update);
      else stale.current = true;
    };
    const followCursor = () => {
      const { cursor, pointedAt } = store.getState();
      if (pointedAt !== spec.id) plot.moveCursor(cursor);
    };
    const stops = [
      ...sourcesOf(traces).map((source) => source.subscribe(update)),
      store.subscribe((state, before) => {
        if (state.zoom !== before.zoom) update();
        if (state.cursor !== before.cursor && visible.current) frames.schedule(followCursor);
      }),
      useChartPreferences.subscribe((state, before) => {
        const changed = (['smoothing', 'log', 'ignoreOutliers'] as const).some((key) => state[key] !== before[key]);
        if (changed) update();
      }),
    ];
    const observer = new ResizeObserver(() => plot.resize(element.clientWidth, height));
    observer.observe(element);
    return () => {
      for (const stop of stops) stop();
      observer.disconnect();
      frames.cancel(plot.update);
      frames.cancel(followCursor);
      frames.cancel(updateTip);
      hideTip();
      plot.destroy();
      plotRef.current = null;
    };
  }, [wasVisible, spec, traces, axis, extent, store, smoothed, theme, height]);

  useEffect(() => {
    visible.current = inView;
    if (!inView || !stale.current || !plotRef.current) return;
    stale.current = false;
    frames.schedule(plotRef.current.update);
  }, [inView]);

  useEffect(() => {
    const before = newest.current;
    // A new plot has already drawn its marks.
    if (before.marks === marks && before.references === references) return;
    newest.current = { marks, references };
    if (before.references === references) plotRef.current?.updateMarks();
    else plotRef.current?.update();
  }, [marks, references]);

  return <div className={styles.plot} ref={target} aria-hidden="true" />;
}

function ChartText({
  spec,
  traces,
  marks,
  references,
}: Required<Pick<ChartProps, 'spec' | 'traces' | 'marks' | 'references'>>) {
  const description = useVersion(traces, true, () => describeChart(spec, traces));
  const all = [description, describeReferences(references), describeMarks(marks)];
  return <p className="visually-hidden">{all.filter(Boolean).join(' ')}</p>;
}
