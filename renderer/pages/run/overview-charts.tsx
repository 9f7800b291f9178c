import { useMemo } from 'react';
import type { RunSummary } from '../../../core/contract/contract.ts';
import { Chart } from '../../charts/chart.tsx';
import { withTarget } from '../../charts/chart-sections.tsx';
import { useChartPreferences } from '../../charts/preferences.ts';
import { useParent } from '../../views/use-parent.ts';
import { WithMetrics } from './charts-section.tsx';
import styles from './overview.module.css';
import { useGroups, useMarks } from './run-charts.tsx';

/** Heights of the plots in CSS pixels. Both charts fit in the first screen. */
const heights = [210, 150];

/** Shows the first two charts of the run: success and reward, or the loss of a warm start. */
export function OverviewCharts({ run }: { run: RunSummary }) {
  return <WithMetrics run={run}>{(names) => <Charts run={run} names={names} />}</WithMetrics>;
}

function Charts({ run, names }: { run: RunSummary; names: string }) {
  const parent = useParent(run);
  const { groups, positions } = useGroups(run, names, parent);
  const marks = useMarks(run, parent, positions);
  const targets = useChartPreferences((state) => state.targets);
  const items = useMemo(
    () => groups[0]!.items.slice(0, heights.length).map((item) => withTarget(item, targets)),
    [groups, targets],
  );
  return (
    <section className={styles.charts} aria-label="Main charts">
      {items.map((item, index) => (
        <Chart key={item.spec.id} {...item} marks={marks} height={heights[index]!} />
      ))}
    </section>
  );
}
