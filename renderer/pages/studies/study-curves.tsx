import { useMemo } from 'react';
import type { StudyRow } from '../../../core/contract/contract.ts';
import { Chart } from '../../charts/chart.tsx';
import { ChartsView } from '../../charts/charts-view.tsx';
import { colorAt, groupSubjects } from '../../charts/group-subjects.ts';
import { compareSpecs } from '../../charts/metric-sections.ts';
import { extentOf, positionsOf, tracesOf } from '../../charts/subjects.ts';
import { useMetricNames } from '../../charts/use-metric-names.ts';
import { type ComparedRun, useComparedRuns } from '../../views/compared-runs.ts';
import styles from './study-page.module.css';

/** Limit that keeps the page fast, since the metrics of every run are loaded. */
const maxRuns = 60;
const plotHeight = 220;

interface StudyCurvesProps {
  rows: readonly StudyRow[];
  environment: string;
}

/** Shows success over iterations: the mean of each setting's runs, with a band from the lowest to the highest. */
export function StudyCurves({ rows, environment }: StudyCurvesProps) {
  const started = rows.flatMap(({ cells }) => cells).filter(({ iteration }) => iteration > 0);
  if (started.length === 0) return null;
  return (
    <section aria-label="Learning curves">
      <h2>Learning curves</h2>
      {started.length > maxRuns ? (
        <p className="muted">
          Curves are drawn for up to {maxRuns} runs; {started.length} have started. <i>Compare runs</i> shows the first{' '}
          {maxRuns}.
        </p>
      ) : (
        <Curves runIds={started.map(({ runId }) => runId)} rows={rows} environment={environment} />
      )}
    </section>
  );
}

function Curves({ runIds, rows, environment }: StudyCurvesProps & { runIds: readonly string[] }) {
  const runs = useComparedRuns(runIds);
  const loaded = runs.filter((run) => run.loaded);
  // Progress changes the rows several times per second; what the charts depend on doesn't.
  const groups = JSON.stringify(
    rows.map(({ name, cells }, index) => ({
      ...{ label: name, color: colorAt(index) },
      ids: cells.map(({ runId }) => runId),
    })),
  );
  if (loaded.length < runIds.length)
    return (
      <p className={`${styles.loading} muted`}>
        Loading runs: {loaded.length} of {runIds.length}…
      </p>
    );
  return (
    <ChartsView>
      <p className="muted small">Mean over seeds; the band reaches from the lowest to the highest run.</p>
      <Charts runs={loaded} groups={groups} environment={environment} />
    </ChartsView>
  );
}

interface ChartsProps {
  runs: readonly ComparedRun[];
  /** As JSON. */
  groups: string;
  environment: string;
}

function Charts({ runs, groups, environment }: ChartsProps) {
  const sources = useMemo(() => runs.map(({ series }) => series), [runs]);
  const names = useMetricNames(sources);
  const items = useMemo(() => {
    const positions = positionsOf(groupSubjects(runs, JSON.parse(groups), 'range'), 'iteration');
    const extent = extentOf(positions, 'iteration');
    return compareSpecs(names.split('\n'))
      .filter(({ id }) => [`evaluation/${environment}/success_rate`, 'rollout/success_rate'].includes(id))
      .map((spec) => ({ spec, traces: tracesOf(spec, positions), axis: 'iteration' as const, extent }));
  }, [runs, groups, names, environment]);
  return (
    <div className={styles.plots}>
      {items.map((item) => (
        <Chart key={item.spec.id} {...item} height={plotHeight} />
      ))}
    </div>
  );
}
