import { type ReactNode, useMemo, useState, useSyncExternalStore } from 'react';
import { shapeOf } from '../../charts/axes.ts';
import type { ChartItem } from '../../charts/chart.tsx';
import { type ChartGroup, ChartSections } from '../../charts/chart-sections.tsx';
import type { ChartSpec } from '../../charts/chart-specs.ts';
import { ChartToolbar } from '../../charts/chart-toolbar.tsx';
import { ChartsView } from '../../charts/charts-view.tsx';
import { GroupSeries, type Spread } from '../../charts/group-series.ts';
import type { ChartMark } from '../../charts/marks.ts';
import { compareSpecs, metricSections } from '../../charts/metric-sections.ts';
import { useChartPreferences } from '../../charts/preferences.ts';
import { sharedReferences } from '../../charts/references.ts';
import { axesOf, extentOf, placesOf, type Subject, tracesOf } from '../../charts/subjects.ts';
import { useChartSearch } from '../../charts/use-search.ts';
import { Empty } from '../../components/basics.tsx';
import { alertMark } from '../../views/chart-marks.ts';
import styles from './compare-page.module.css';
import type { Compared } from './compared-list.tsx';
import { type Grouping, groupings } from './config-diff.ts';

/** Runs of which every alarm is marked. */
const fewRuns = 6;

/** A value that stays the same object as long as its key does. */
function useKept<T>(key: string, value: T): T {
  const [kept, setKept] = useState({ key, value });
  if (kept.key === key) return kept.value;
  setKept({ key, value });
  return value;
}

interface ChartsProps {
  compared: readonly Compared[];
  hidden: ReadonlySet<string>;
}

/** Every metric of the runs, a line for each of them, or for each group of them its mean and how far they are from it. */
export function CompareCharts({ compared, hidden }: ChartsProps) {
  const axis = useChartPreferences((state) => state.axis);
  const [by, setBy] = useState('');
  const [spread, setSpread] = useState<Spread>('deviation');
  // Summaries change several times a second; what the charts are made of doesn't.
  const key = compared
    .map(({ id, run, loaded, color, alerts }) =>
      [id, run.name, loaded, color, hidden.has(id), ...alerts.map((alert) => alert.id)].join(' '),
    )
    .join('\n');
  const shown = useKept(
    key,
    compared.filter(({ id, loaded }) => loaded && !hidden.has(id)),
  );
  const choices = useMemo(
    () => groupings(shown.map(({ config, run }) => ({ config, point: run.study?.point ?? null }))),
    [shown],
  );
  const grouping = choices.find(({ id }) => id === by) ?? null;
  const subjects = useMemo(
    () => (grouping ? groupSubjects(shown, grouping, spread) : shown.map(runSubject)),
    [shown, grouping, spread],
  );
  // All at once the first time, rather than every chart anew for each of them.
  const [begun, setBegun] = useState(false);
  const ready = compared.filter(({ loaded }) => loaded).length;
  if (!begun && ready === compared.length) setBegun(true);
  if (!begun) return <Empty title={`Loading ${compared.length} runs, ${ready} are here…`} />;
  if (shown.length === 0) return <Empty title="All runs are hidden" />;
  return (
    <ChartsView key={axis}>
      <Charts compared={shown} subjects={subjects} grouped={grouping !== null}>
        <label className="choice">
          <span>Group by</span>
          <select value={grouping ? by : ''} onChange={({ target }) => setBy(target.value)}>
            <option value="">no group</option>
            {choices.map(({ id, title }) => (
              <option key={id} value={id}>
                {title}
              </option>
            ))}
          </select>
        </label>
        {grouping && (
          <label className="choice">
            <span>Spread</span>
            <select value={spread} onChange={({ target }) => setSpread(target.value as Spread)}>
              <option value="deviation">standard deviation</option>
              <option value="range">least to greatest</option>
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

function groupSubjects(shown: readonly Compared[], { id, groups }: Grouping, spread: Spread): Subject[] {
  return groups.map(({ label, members }, index) => {
    const own = members.map((member) => shown[member]!);
    const series = new GroupSeries(
      own.map((each) => each.series),
      spread,
    );
    return {
      id: `${id} ${label}`,
      label: `${label} (${own.length} run${own.length === 1 ? '' : 's'})`,
      source: series.mean,
      spread: series,
      shape: shapeOf(own[0]!.config),
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
  const wished = useChartPreferences((state) => state.axis);
  const search = useChartSearch();
  const names = useNames(compared);
  const { axis, axes, groups, places } = useMemo(() => {
    const all = names.split('\n');
    const axes = axesOf(subjects);
    const axis = axes.includes(wished) ? wished : 'iteration';
    const places = placesOf(subjects, axis);
    const extent = extentOf(places, axis);
    const itemOf = (spec: ChartSpec): ChartItem => ({
      spec,
      traces: tracesOf(spec, places),
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
    return { axis, axes, groups, places };
  }, [compared, subjects, names, wished]);
  // An alert is of one run; over a mean it would say nothing.
  const marks = useMemo<ChartMark[]>(
    () =>
      grouped
        ? []
        : compared.flatMap(({ id, run, alerts, color }) => {
            const own = [...places].find(([subject]) => subject.id === id)?.[1];
            // With several runs, what is only watched would hide what matters; with many, all but the first alarm of each.
            const alarms = alerts
              .map(alertMark)
              .filter(({ tone }) => tone !== 'watch')
              .sort((a, b) => a.iteration - b.iteration);
            return alarms.slice(0, compared.length > fewRuns ? 1 : undefined).map((mark) => ({
              ...mark,
              // Runs that go wrong alike have alerts with the same id.
              id: `${id} ${mark.id}`,
              color,
              title: `${run.name}: ${mark.title}`,
              ...(own && { places: own }),
            }));
          }),
    [compared, places, grouped],
  );
  return (
    <section aria-label="Charts">
      <ChartToolbar axis={axis} axes={axes} search={search}>
        {children}
      </ChartToolbar>
      {grouped && (
        <ul className={styles.legend} aria-label="Groups">
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

/** Of all runs together; the set changes a handful of times, their values all the time. */
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
