import { useMemo, useState } from 'react';
import type { RunSummary } from '../../../core/contract/contract.ts';
import { count } from '../../../core/contract/numbers.ts';
import { distinctName } from '../../../core/contract/run-names.ts';
import { shapeOf } from '../../charts/axes.ts';
import type { ChartItem } from '../../charts/chart.tsx';
import { type ChartGroup, ChartSections } from '../../charts/chart-sections.tsx';
import type { ChartSpec } from '../../charts/chart-specs.ts';
import { ChartToolbar } from '../../charts/chart-toolbar.tsx';
import { ChartsView } from '../../charts/charts-view.tsx';
import type { Band } from '../../charts/group-series.ts';
import { groupSubjects, type RunGroup } from '../../charts/group-subjects.ts';
import type { ChartMark } from '../../charts/marks.ts';
import { compareSpecs, metricSections } from '../../charts/metric-sections.ts';
import { withPanels } from '../../charts/panels.ts';
import { useChartPreferences } from '../../charts/preferences.ts';
import { sharedReferences } from '../../charts/references.ts';
import { axesOf, extentOf, positionsOf, type Subject, tracesOf } from '../../charts/subjects.ts';
import { useMetricNames } from '../../charts/use-metric-names.ts';
import { useChartSearch } from '../../charts/use-search.ts';
import { Empty } from '../../components/basics.tsx';
import type { LineMark } from '../../run-table/rows.tsx';
import { alertMark } from '../../views/chart-marks.ts';
import type { ComparedRun } from '../../views/compared-runs.ts';
import styles from './compare-page.module.css';

/** With more runs than this, only the first alarm of each is marked. */
const maxWithAllAlarms = 6;

/** Returns the same object as long as the key is the same. */
function useStable<T>(key: string, value: T): T {
  const [stored, setStored] = useState({ key, value });
  if (stored.key === key) return stored.value;
  setStored({ key, value });
  return value;
}

/** A compared run with its line on every chart. */
export interface Compared extends ComparedRun, LineMark {
  run: RunSummary;
}

interface ChartsProps {
  compared: readonly Compared[];
  /** Draws the mean and a band of each group; null draws every run. */
  groups: readonly RunGroup[] | null;
  /** Names the colors of the runs; null if each run has its own. */
  legend: readonly RunGroup[] | null;
  band: Band;
}

/** Charts of all metrics: one line per run, or the mean and a band per group. */
export function CompareCharts({ compared, groups, legend, band }: ChartsProps) {
  const axis = useChartPreferences((state) => state.axis);
  // Summaries change several times per second; what the charts depend on doesn't.
  const key = compared
    .map(({ id, run, loaded, color, dash, alerts }) =>
      [id, run.name, loaded, color, dash, ...alerts.map((alert) => alert.id)].join(' '),
    )
    .join('\n');
  const shown = useStable(
    key,
    compared.filter(({ loaded }) => loaded),
  );
  const grouping = useStable(JSON.stringify(groups), groups);
  const subjects = useMemo(
    () => (grouping ? groupSubjects(shown, grouping, band) : shown.map(runSubject)),
    [shown, grouping, band],
  );
  // The first time, draw all runs at once instead of redrawing the charts for each run that loads.
  const [started, setStarted] = useState(false);
  if (!started && shown.length === compared.length) setStarted(true);
  if (!started) return <Empty title={`Loading runs: ${shown.length} of ${compared.length}…`} />;
  return (
    <ChartsView key={axis}>
      <Charts compared={shown} subjects={subjects} grouped={grouping !== null} legend={legend} />
    </ChartsView>
  );
}

const runSubject = ({ id, run, series, config, color, dash }: Compared): Subject => ({
  id,
  label: distinctName(run),
  source: series,
  shape: shapeOf(config),
  color,
  ...(dash && { dash }),
});

interface SubjectChartsProps {
  compared: readonly Compared[];
  subjects: readonly Subject[];
  grouped: boolean;
  legend: readonly RunGroup[] | null;
}

function Charts({ compared, subjects, grouped, legend }: SubjectChartsProps) {
  const chosenAxis = useChartPreferences((state) => state.axis);
  const search = useChartSearch();
  const sources = useMemo(() => compared.map(({ series }) => series), [compared]);
  const names = useMetricNames(sources);
  const { axis, axes, groups, positions } = useMemo(() => {
    const all = names.split('\n');
    const axes = axesOf(subjects);
    const axis = axes.includes(chosenAxis) ? chosenAxis : 'iteration';
    const positions = positionsOf(subjects, axis);
    const extent = extentOf(positions, axis);
    const panels = compared.flatMap(({ run }) => run.panels);
    const itemOf = (spec: ChartSpec): ChartItem => ({
      spec: withPanels(spec, panels),
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
        : compared.flatMap(({ id, run, series, alerts, color }) => {
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
              source: series,
              title: `${distinctName(run)}: ${mark.title}`,
              ...(runPositions && { positions: runPositions }),
            }));
          }),
    [compared, positions, grouped],
  );
  return (
    <section aria-label="Charts">
      <ChartToolbar axis={axis} axes={axes} search={search} />
      {(grouped || legend) && (
        <ul className={`${styles.legend} wrap`} aria-label={grouped ? 'Groups' : 'Colors'}>
          {(grouped ? subjects : (legend ?? [])).map(({ label, color }) => (
            <li key={label}>
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
        subtitle={grouped ? count(subjects.length, 'group') : count(compared.length, 'run')}
      />
    </section>
  );
}

const isSuccess = ({ id }: ChartSpec) => id.endsWith('/success_rate');
