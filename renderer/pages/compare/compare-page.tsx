import { useMemo, useState } from 'react';
import { sampleRunId } from '../../../core/contract/contract.ts';
import { navigate } from '../../base/router.ts';
import { useTitle } from '../../base/title.ts';
import { Empty } from '../../components/basics.tsx';
import { RunChoice } from '../../components/compare-with.tsx';
import { findRun, useApp } from '../../stores/app-store.ts';
import { useSample } from '../../stores/use-sample.ts';
import { useComparedRuns } from '../../views/compared-runs.ts';
import { CompareCharts } from './compare-charts.tsx';
import styles from './compare-page.module.css';
import { type Compared, ComparedList } from './compared-list.tsx';
import { ConfigTable } from './config-table.tsx';

/** Maximum number of runs. With more, lines are hard to distinguish and slow to draw. */
const maxRuns = 60;
const colors = 10;
const dashes = [undefined, 'dashed', 'dotted'] as const;

/** Overlays the metrics of several runs and lists how their configurations differ. */
export function ComparePage({ runIds: requested }: { runIds: readonly string[] }) {
  const runIds = useMemo(() => requested.slice(0, maxRuns), [requested]);
  const runs = useApp((state) => state.runs);
  useSample(runIds.includes(sampleRunId));
  const sample = useApp((state) => state.sample);
  const followed = useComparedRuns(runIds);
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());
  const compared = useMemo(
    () =>
      followed.flatMap((each): Compared[] => {
        const run = findRun({ runs, sample }, each.id);
        const index = runIds.indexOf(each.id);
        const dash = dashes[Math.floor(index / colors) % dashes.length];
        return run ? [{ ...each, run, color: `run-${(index % colors) + 1}`, ...(dash && { dash }) }] : [];
      }),
    [followed, runs, sample, runIds],
  );
  const missing = runs ? runIds.filter((id) => id !== sampleRunId && !runs.some((run) => run.id === id)) : [];
  const title = `Compare ${compared.length} run${compared.length === 1 ? '' : 's'}`;
  useTitle(title);

  const remove = (id: string) => navigate({ page: 'compare', runIds: runIds.filter((each) => each !== id) }, true);
  const toggle = (id: string) =>
    setHidden((before) => {
      const after = new Set(before);
      if (!after.delete(id)) after.add(id);
      return after;
    });
  return (
    <div className="page">
      <header className={`${styles.head} row wrap`}>
        <h1>{compared.length > 0 ? title : 'Compare runs'}</h1>
        <span className="spacer" />
        <RunChoice
          label="Add a run…"
          without={runIds}
          onChoose={(id) => navigate({ page: 'compare', runIds: [...runIds, id] }, true)}
        />
      </header>
      {requested.length > maxRuns && (
        <p className={styles.missing} role="status">
          Comparing the first {maxRuns} of {requested.length} runs.
        </p>
      )}
      {missing.length > 0 && (
        <p className={styles.missing} role="status">
          {missing.length === 1
            ? '1 run was not found. It may have been deleted.'
            : `${missing.length} runs were not found. They may have been deleted.`}
        </p>
      )}
      {compared.length === 0 && missing.length === runIds.length ? (
        <Empty title="No runs to compare">Add two or more runs to overlay their metrics.</Empty>
      ) : (
        <>
          <ComparedList compared={compared} hidden={hidden} onToggle={toggle} onRemove={remove} />
          <CompareCharts compared={compared} hidden={hidden} />
          <ConfigTable compared={compared} />
        </>
      )}
    </div>
  );
}
