import { type ReactNode, useMemo, useState, useSyncExternalStore } from 'react';
import { shapeOf } from '../../charts/axes.ts';
import type { ChartItem } from '../../charts/chart.tsx';
import { type ChartGroup, ChartSections } from '../../charts/chart-sections.tsx';
import type { ChartSpec } from '../../charts/chart-specs.ts';
import { ChartToolbar } from '../../charts/chart-toolbar.tsx';
import { ChartsView } from '../../charts/charts-view.tsx';
import { type Band, GroupSeries } from '../../charts/group-series.ts';
import type { ChartMark } from '../../charts/marks.ts';
import { compareSpecs, metricSections } from '../../charts/metric-sections.ts';
import { useChartPreferences } from '../../charts/preferences.ts';
import { sharedReferences } from '../../charts/references.ts';
import { axesOf, extentOf, positionsOf, type Subject, tracesOf } from '../../charts/subjects.ts';
import { useChartSearch } from '../../charts/use-search.ts';
import { Empty } from '../../components/basics.tsx';
import { alertMark } from '../../views/chart-marks.ts';
import styles from './compare-page.module.css';
import type { Compared } from './compared-list.tsx';
import { type Grouping, groupings } from './config-diff.ts';

/** With more runs than this, only the first alarm of each is marked. */
const maxWithAllAlarms = 6;

/** Returns the same object as long as the key is the same. */
function useStable<T>(key: string, value: T): T {
  const [stored, setStored] = useState({ key, value });
  if (stored.key === key) return stored.value;
  setStored({ key, value });
  return value;
}

interface ChartsProps {
  compared: readonly Compared[];
  hidden: ReadonlySet<string>;
}

/** Charts of all metrics: one line per run, or the mean and a band per group. */
export function CompareCharts({ compared, hidden }: ChartsProps) {
  const axis = useChartPreferences((state) => state.axis);
  const [by, setBy] = useState('');
  const [band, setBand] = useState<Band>('deviation');
  // Summaries change several times per second; what the charts depend on doesn't.
  const key = compared
    .map(({ id, run, loaded, color, alerts }) =>
      [id, run.name, loaded, color, hidden.has(id), ...alerts.map((alert) => alert.id)].join(' '),
    )
    .join('\n');
  const shown = useStable(
    key,
    compared.filter(({ id, loaded }) => loaded && !hidden.has(id)),
  );
  const choices = useMemo(
    () => groupings(shown.map(({ config, run }) => ({ config, point: run.study?.point ?? null }))),
    [shown],
  );
  const grouping = choices.find(({ id }) => id === by) ?? null;
  const subjects = useMemo(
    () => (grouping ? groupSubjects(shown, grouping, band) : shown.map(runSubject)),
    [shown, grouping, band],
  );
  // The first time, draw all runs at once instead of redrawing the charts for each run that loads.
  const [started, setStarted] = useState(false);
  const ready = compared.filter(({ loaded }) => loaded).length;
  if (!started && ready === compared.length) setStarted(true);
  if (!started) return <Empty title={`Loading runs: ${ready} of ${compared.length}…`} />;
  if (shown.length === 0) return <Empty title="All runs hidden" />;
  return (
    <ChartsView key={axis}>
      <Charts compared={shown} subjects={subjects} grouped={grouping !== null}>
        <label className="choice">
          <span>Group by</span>
          <select value={grouping ? by : ''} onChange={({ target }) => setBy(target.value)}>
            <option value="">none</option>
            {choices.map(({ id, title }) => (
              <option key={id} value={id}>
                {title}
              </option>
            ))}
          </select>
        </label>
        {grouping && (
          <label className="choice">
            <span>Band</span>
            <select value={band} onChange={({ target }) => setBand(target.value as Band)}>
              <option value="deviation">standard deviation</option>
              <option value="range">min to max</option>
            </select>
          </label>
        )}
      </Charts>
    </ChartsView>
  );
}

const runSubject = ({ id, run, series, config, color, dash }: Compared): Subject => ({
  id,
  label: run.name,
  source: series,
  shape: shapeOf(config),
  color,
  ...(dash && { dash }),
});

function groupSubjects(shown: readonly Compared[], { id, groups }: Grouping, band: Band): Subject[] {
  return groups.map(({ label, members }, index) => {
    const runs = members.map((member) => shown[member]!);
    const series = new GroupSeries(
      runs.map((run) => run.series),
      band,
    );
    return {
      id: `${id} ${label}`,
      label: `${label} (${runs.length} run${runs.length === 1 ? '' : 's'})`,
      source: series.mean,
      bounds: series,
      shape: shapeOf(runs[0]!.config),
      color: `run-${(index % 10) + 1}`,
    };
  });
}

interface SubjectChartsProps {
  compared: readonly Compared[];
  subjects: readonly Subject[];
  grouped: boolean;
  children: ReactNode;
}

function Charts({ compared, subjects, grouped, children }: SubjectChartsProps) {
  const chosenAxis = useChartPreferences((state) => state.axis);
  const search = useChartSearch();
  const names = useNames(compared);
  const { axis, axes, groups, positions } = useMemo(() => {
    const all = names.split('\n');
    const axes = axesOf(subjects);
    const axis = axes.includes(chosenAxis) ? chosenAxis : 'iteration';
    const positions = positionsOf(subjects, axis);
    const extent = extentOf(positions, axis);
    const itemOf = (spec: ChartSpec): ChartItem => ({
      spec,
      traces: tracesOf(spec, positions),
      axis,
      extent,
      legend: false,
    });
    const references = sharedReferences(compared.map(({ config }) => config));
    const overview = compareSpecs(all);
    const groups: ChartGroup[] = [
      {
        id: 'overview',
        title: 'Overview',
        items: overview.map((spec) => ({ ...itemOf(spec), ...(isSuccess(spec) && { references }) })),
      },
      ...metricSections(all).map((section) => ({
        ...section,
        items: section.charts.filter(({ id }) => !overview.some((spec) => spec.id === id)).map(itemOf),
      })),
    ];
    return { axis, axes, groups, positions };
  }, [compared, subjects, names, chosenAxis]);
  // An alert belongs to one run; it means nothing on a group's mean.
  const marks = useMemo<ChartMark[]>(
    () =>
      grouped
        ? []
        : compared.flatMap(({ id, run, alerts, color }) => {
            const runPositions = [...positions].find(([subject]) => subject.id === id)?.[1];
            // With several runs, show alarms only. With many, show the first alarm of each run.
            const alarms = alerts
              .map(alertMark)
              .filter(({ tone }) => tone !== 'watch')
              .sort((a, b) => a.iteration - b.iteration);
            return alarms.slice(0, compared.length > maxWithAllAlarms ? 1 : undefined).map((mark) => ({
              ...mark,
              // Runs that collapse alike have alerts with the same id.
              id: `${id} ${mark.id}`,
              color,
              title: `${run.name}: ${mark.title}`,
              ...(runPositions && { positions: runPositions }),
            }));
          }),
    [compared, positions, grouped],
  );
  return (
    <section aria-label="Charts">
      <ChartToolbar axis={axis} axes={axes} search={search}>
        {children}
      </ChartToolbar>
      {grouped && (
        <ul className={`${styles.legend} wrap`} aria-label="Groups">
          {subjects.map(({ id, label, color }) => (
            <li key={id}>
              <span className={styles.key} style={{ color: `var(--${color})` }} aria-hidden="true" />
              {label}
            </li>
          ))}
        </ul>
      )}
      <ChartSections
        groups={groups}
        marks={marks}
        matches={search.matches}
        subtitle={grouped ? `${subjects.length} groups` : `${compared.length} runs`}
      />
    </section>
  );
}

const isSuccess = ({ id }: ChartSpec) => id.endsWith('/success_rate');

/** Returns the metric names of all runs. They change a few times per run; values change all the time. */
function useNames(compared: readonly Compared[]): string {
  const subscribe = useMemo(
    () => (listener: () => void) => {
      const stops = compared.map(({ series }) => series.subscribe(listener));
      return () => {
        for (const stop of stops) stop();
      };
    },
    [compared],
  );
  return useSyncExternalStore(subscribe, () =>
    [...new Set(compared.flatMap(({ series }) => series.names()))].sort().join('\n'),
  );
}
